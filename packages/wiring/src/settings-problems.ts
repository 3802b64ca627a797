import type { AnyTool, PersonalityConfig, ToolSettingsIssue } from '@ethosagent/types';
import { placeOf } from './personality-places.js';
import type { RuntimeProblem } from './problems.js';

/**
 * Where a personality's `tool_settings` don't fit the tools. A tool whose settings are wrong is
 * held back: what the operator meant is not known.
 */
export function findSettingsProblems(
  personality: PersonalityConfig,
  { file, tools }: { file: string; tools: readonly AnyTool[] },
): RuntimeProblem[] {
  return Object.entries(personality.tool_settings ?? {}).flatMap(([name, value]) => {
    const problem = (path: readonly (string | number)[], what: string, heldBack: boolean) => {
      const key = keyOf(['tool_settings', name, ...path]);
      const place = placeOf(personality, ['tool_settings', name, ...path]);
      const at = place === '' ? file : `${file}:${place}`;
      return { file, key, tool: name, message: `${at}: ${key}: ${what}`, heldBack };
    };
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) return [problem([], `${name} is no registered tool`, false)];
    if (tool.settings === undefined) return [problem([], `${name} has no settings`, false)];
    return issuesOf(tool.settings, value).map(({ path, message }) => problem(path, message, true));
  });
}

function issuesOf(
  { parse }: NonNullable<AnyTool['settings']>,
  value: unknown,
): readonly ToolSettingsIssue[] {
  try {
    const parsed = parse(value);
    return parsed.ok ? [] : parsed.issues;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ path: [], message: `can not be checked: ${message}` }];
  }
}

/** `tool_settings.web_search.count` */
function keyOf(path: readonly (string | number)[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);
}
