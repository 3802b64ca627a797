import { assertOptions, isFunction, type OptionNames } from '@ethosagent/policy';
import { EthosError, type TurnStore } from '@ethosagent/types';
import type { AgentLoop } from '../agent-loop.js';
import type { Engine } from './engine.js';

interface FleetParts {
  turns: TurnStore;
  engine?: Engine;
}

const PARTS: OptionNames<FleetParts> = {
  turns: [
    (turns) => isFunction(Object(turns).put),
    'a store of turns, such as createSqliteTurns({ path })',
  ],
  engine: [
    (engine) => isFunction(Object(engine).enqueue),
    'an engine, such as createBullmqEngine({ connection })',
  ],
};

/**
 * Plain JavaScript may pass anything, such as a promise of a store.
 * @throws `CONFIG_INVALID`
 */
export function assertFleetParts(of: string, parts: FleetParts): void {
  assertOptions(of, parts, PARTS);
  // Here it may not be absent.
  assertOptions(of, { turns: parts.turns ?? null }, PARTS);
}

/**
 * The loop of an agent. A worker without one would take turns, and fail them.
 * @throws `CONFIG_INVALID`
 */
export function loopOf(of: string, agent: { readonly loop: AgentLoop }): AgentLoop {
  const { loop }: { loop?: AgentLoop } = Object(agent);
  if (isFunction(Object(loop).hold) && loop !== undefined) return loop;
  throw new EthosError(
    'CONFIG_INVALID',
    `${of}: agent must be what createAgent returned, after await`,
  );
}
