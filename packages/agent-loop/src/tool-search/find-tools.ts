import { oneLine } from '@ethosagent/policy';
import type { ToolDefinition, ToolResult } from '@ethosagent/types';
import type { LoggedCall, SessionLog } from '../journal/session-log.js';
import { FIND_TOOLS } from './find-tools-definition.js';
import { offeredTools } from './offered-tools.js';
import { createToolIndex } from './tool-index.js';
import type { ToolSearchPlan } from './tool-search-plan.js';

/** The answer to a search. */
export interface FindAnswer {
  logged: LoggedCall;
  result: ToolResult;
  /** The names of the tools that were not offered before. */
  found: string[];
}

const MAX_ABOUT_CHARS = 200;

/**
 * Answers the open calls of `find_tools`. They have no effect, so one whose process died is run
 * again. It finds only tools that the personality may call now.
 */
export async function answerFinds(
  log: SessionLog,
  plan: ToolSearchPlan | undefined,
  definitionsNow: () => Promise<readonly ToolDefinition[]>,
): Promise<FindAnswer[]> {
  const calls = log.openCalls().filter(({ call }) => call.name === FIND_TOOLS);
  if (plan === undefined || calls.length === 0) return [];
  const definitions = await definitionsNow();
  // The agent has a tool of its own with this name.
  if (definitions.some(({ name }) => name === FIND_TOOLS)) return [];
  const { hidden } = offeredTools(definitions, { plan, appended: log.appended });
  const index = createToolIndex(hidden);
  const told = new Set(log.appended);
  return calls.map((logged) => {
    const { query } = logged.call.input;
    if (typeof query !== 'string' || query.trim() === '') {
      const error = 'give what a tool has to do as `query`';
      const result = { ok: false, code: 'input_invalid', error, cause: 'INPUT_INVALID' } as const;
      return { logged, result, found: [] };
    }
    const names = index.search(query, plan.limit);
    const found = names.filter((name) => !told.has(name));
    for (const name of found) told.add(name);
    return { logged, result: { ok: true, value: textOf(names, hidden) }, found };
  });
}

function textOf(names: readonly string[], hidden: readonly ToolDefinition[]): string {
  if (names.length === 0) {
    return hidden.length === 0
      ? 'There are no other tools than those that are listed.'
      : 'No tool fits. Try other words: the action, the thing, or the service.';
  }
  const lines = names.map((name) => {
    const { description = '' } = hidden.find((each) => each.name === name) ?? {};
    return `- ${name}: ${oneLine(description, MAX_ABOUT_CHARS)}`;
  });
  return `These can be called now:\n${lines.join('\n')}`;
}
