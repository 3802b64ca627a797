import { isMcpToolName } from '@ethosagent/policy';
import { EthosError, type ToolDefinition } from '@ethosagent/types';
import { textTokens } from '../context/estimate.js';
import { READ_RESULT, READ_RESULT_DEFINITION } from '../context/read-result.js';
import { FIND_TOOLS, FIND_TOOLS_DEFINITION } from './find-tools-definition.js';
import type { ToolSearchPlan } from './tool-search-plan.js';

/** Why `read_result` is needed, for the error. */
export const SHORTER = { why: 'the history is to be made shorter', option: 'context' };

/** The tools that a model is offered, and those that it has to search for. */
export interface OfferedTools {
  offered: readonly ToolDefinition[];
  /** The tools that `find_tools` searches. */
  hidden: readonly ToolDefinition[];
}

/**
 * The tools of a request. Tools that were added in the session come last, in order, so that the
 * part before them stays the same.
 *
 * @param appended the names of added tools in order: found tools, and `read_result`
 * @throws `CONFIG_INVALID` if the agent has a tool of its own with the name of one that is needed
 */
export function offeredTools(
  definitions: readonly ToolDefinition[],
  { plan, appended }: { plan: ToolSearchPlan | undefined; appended: readonly string[] },
): OfferedTools {
  const hidden = plan === undefined ? new Set<ToolDefinition>() : hiddenOf(definitions, plan);
  const always = definitions.filter((each) => !hidden.has(each));
  const byName = new Map([...hidden].map((each) => [each.name, each]));
  const later = appended.flatMap((name) => {
    if (name !== READ_RESULT) return byName.get(name) ?? [];
    assertFree(definitions, READ_RESULT, SHORTER);
    return READ_RESULT_DEFINITION;
  });
  const isSearched =
    hidden.size > 0 || (plan !== undefined && appended.some((name) => name !== READ_RESULT));
  if (isSearched)
    assertFree(definitions, FIND_TOOLS, {
      why: 'its tools are more than fit',
      option: 'toolSearch',
    });
  const search = isSearched ? [FIND_TOOLS_DEFINITION] : [];
  return { offered: [...always, ...search, ...later], hidden: [...hidden] };
}

/** @throws `CONFIG_INVALID` */
export function assertFree(
  definitions: readonly ToolDefinition[],
  name: string,
  { why, option }: { why: string; option: string },
): void {
  if (definitions.every((each) => each.name !== name)) return;
  throw new EthosError(
    'CONFIG_INVALID',
    `${why}, and the agent has a tool ${name} of its own: rename that, or set ${option} to false`,
  );
}

/**
 * Hides the tools that ask for it. If the others are still too large, also those of MCP servers. If
 * that is not enough, the last ones of the others.
 */
function hiddenOf(
  definitions: readonly ToolDefinition[],
  { tokens: room }: ToolSearchPlan,
): Set<ToolDefinition> {
  const hidden = new Set(definitions.filter(({ defer }) => defer === true));
  const left = () => definitions.filter((each) => !hidden.has(each));
  if (tokensOf(left()) <= room) return hidden;
  for (const each of left()) if (isMcpToolName(each.name)) hidden.add(each);
  let used = 0;
  for (const each of left()) {
    used += tokensOf([each]);
    if (used > room) hidden.add(each);
  }
  return hidden;
}

/** Counts the parts that a model is told. */
function tokensOf(definitions: readonly ToolDefinition[]): number {
  return definitions.reduce(
    (sum, { name, description, parameters }) =>
      sum + textTokens(JSON.stringify([name, description, parameters])),
    0,
  );
}
