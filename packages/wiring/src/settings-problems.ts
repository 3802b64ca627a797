import { nearestName } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig, ToolSettingsIssue } from '@ethosagent/types';
import { placeIn } from './personality-places.js';
import type { RuntimeProblem } from './runtime-problem.js';

/**
 * Finds entries of a personality's `tool_settings` that do not fit the tools. A tool with wrong
 * settings is withheld, since nobody knows what the operator meant.
 */
export function findSettingsProblems(
  personality: PersonalityConfig,
  { file, tools }: { file: string; tools: readonly AnyTool[] },
): RuntimeProblem[] {
  return Object.entries(personality.tool_settings ?? {}).flatMap(([name, value]) => {
    const problem = (
      path: readonly (string | number)[],
      what: string,
      heldBack: string | undefined,
    ) => {
      const key = keyOf(['tool_settings', name, ...path]);
      const place = placeIn(file, personality, ['tool_settings', name, ...path]);
      const message = `${place}: ${key}: ${what}`;
      return { file, key, tool: heldBack ?? name, message, heldBack: heldBack !== undefined };
    };
    const takers = tools.filter((tool) => (tool.settingsKey ?? tool.name) === name);
    const problems = takers.flatMap(({ name: tool, settings }) =>
      settings === undefined
        ? []
        : issuesOf(settings, value).map(({ path, message }) => problem(path, message, tool)),
    );
    if (problems.length > 0 || takers.some(({ settings }) => settings !== undefined)) {
      return problems;
    }
    const isTool = tools.some((tool) => tool.name === name);
    const what = isTool ? `${name} has no settings of its own` : `${name} is no registered tool`;
    return [problem([], what + insteadOf(name, tools), undefined)];
  });
}

function insteadOf(name: string, tools: readonly AnyTool[]): string {
  const other = tools.find((tool) => tool.name === name)?.settingsKey;
  if (other !== undefined) return `; set ${other}, whose settings it takes`;
  const keys = tools.flatMap((tool) =>
    tool.settings === undefined ? [] : [tool.settingsKey ?? tool.name],
  );
  const near = nearestName(name, new Set(keys));
  return near ? `; did you mean "${near}"?` : '';
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

/** E.g. `tool_settings.web_search.count`. */
function keyOf(path: readonly (string | number)[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);
}
