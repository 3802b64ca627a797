import { EthosError, type ToolResult } from '@ethosagent/types';
import type { SessionLimits } from './session-api.js';

/** What the calls of a session have used up of its limits. */
export class SessionSpending {
  readonly #limits: SessionLimits;
  #calls = 0;
  #costUsd = 0;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  /** Counts calls that are about to run. @throws `TURN_LIMIT` */
  assertAffords(calls: number): void {
    const { maxCalls = Number.POSITIVE_INFINITY, maxCostUsd = Number.POSITIVE_INFINITY } =
      this.#limits;
    this.#calls += calls;
    if (this.#calls > maxCalls) {
      throw new EthosError('TURN_LIMIT', `the session made its ${maxCalls} calls`);
    }
    if (this.#costUsd >= maxCostUsd) {
      throw new EthosError('TURN_LIMIT', `the session cost its ${maxCostUsd} US dollars`);
    }
  }

  /** Counts what a call says that it cost. */
  addCostOf(result: ToolResult): void {
    if (result.ok) this.#costUsd += Math.max(0, Number(result.cost_usd) || 0);
  }
}
