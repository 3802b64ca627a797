import { assertOptions } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { AgentLoopOptions, ToolSearchOptions } from '../api.js';
import type { ContextPlan } from '../context/context-plan.js';
import { windowOf } from '../context/model-windows.js';

/** When tools are searched for, with the defaults filled in. */
export interface ToolSearchPlan {
  /** How many tokens the definitions may take that a model is offered from the start. */
  tokens: number;
  /** How many tools one search finds. */
  limit: number;
}

const MAX_FOUND = 50;

/** @throws `CONFIG_INVALID` */
export function toolSearchPlan(
  { toolSearch = {}, model }: Pick<AgentLoopOptions, 'toolSearch' | 'model'>,
  context: ContextPlan | undefined,
): ToolSearchPlan | undefined {
  if (toolSearch === false) return undefined;
  const { share = 0.1, limit = 5 } = toolSearch;
  const all: Required<ToolSearchOptions> = { share, limit };
  assertOptions('toolSearch', toolSearch, all);
  if (typeof share !== 'number' || !(share >= 0 && share <= 1))
    throw invalid('share', 'give a share of the window from 0 to 1');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_FOUND) {
    throw invalid('limit', `give a whole number from 1 to ${MAX_FOUND}`);
  }
  return { tokens: Math.floor((context?.window ?? windowOf(model)) * share), limit };
}

function invalid(name: keyof ToolSearchOptions, advice: string): EthosError {
  return new EthosError('CONFIG_INVALID', `toolSearch.${name} can't be that; ${advice}`);
}
