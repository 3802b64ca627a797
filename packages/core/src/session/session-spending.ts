import { EthosError, type ToolResult } from '@ethosagent/types';
import type { SessionLimits } from './session-api.js';
import type { SessionLedger } from './session-ledger.js';

/**
 * Holds a session to its limits. Its ledger counts what it used up, in every process that has it
 * open.
 */
export class SessionSpending {
  readonly #ledger: SessionLedger;
  readonly #maxCalls: number;
  readonly #maxCostUsd: number;

  constructor(limits: SessionLimits, ledger: SessionLedger) {
    this.#ledger = ledger;
    this.#maxCalls = limits.maxCalls ?? Number.POSITIVE_INFINITY;
    this.#maxCostUsd = limits.maxCostUsd ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Counts calls that are about to run. If there are limits, other processes are told.
   * @throws `TURN_LIMIT`, and as `SessionLedger.append`
   */
  async addCalls(calls: number): Promise<void> {
    const use = { calls, costUsd: 0 };
    if (this.#maxCalls === Number.POSITIVE_INFINITY && !this.#limitsCost) {
      this.#ledger.count(use);
      return;
    }
    await this.#ledger.spend(use, (used) => {
      if (used.calls + calls > this.#maxCalls) {
        throw new EthosError(
          'TURN_LIMIT',
          `the call did not run: its batch would take the session over its limit of ${this.#maxCalls} calls (maxCalls); tell the user`,
        );
      }
      if (used.costUsd >= this.#maxCostUsd) {
        throw new EthosError(
          'TURN_LIMIT',
          `the call did not run: the session is at its limit of ${this.#maxCostUsd} US dollars (maxCostUsd); tell the user`,
        );
      }
    });
  }

  /** Counts the costs that calls report. */
  async addCostOf(results: readonly ToolResult[]): Promise<void> {
    const costUsd = results.reduce((sum, result) => sum + costOf(result), 0);
    if (costUsd === 0) return;
    this.#ledger.count({ calls: 0, costUsd });
    if (!this.#limitsCost) return;
    // If this can't be recorded now, it is counted here, and recorded with the next calls.
    await this.#ledger.spend({ calls: 0, costUsd: 0 }, () => {}).catch(() => {});
  }

  get #limitsCost(): boolean {
    return this.#maxCostUsd !== Number.POSITIVE_INFINITY;
  }
}

function costOf(result: ToolResult): number {
  return result.ok ? Math.max(0, Number(result.cost_usd) || 0) : 0;
}
