import { EthosError } from '@ethosagent/types';
import type { Promised } from '../promised.js';
import type { ScenarioName } from './options.js';

/** Something that a tool reached or did, and must not. */
export interface Reached {
  scenario: ScenarioName;
  /** The promise that it breaks. */
  promised: Promised;
  /** A description of it, without secrets and contents. */
  what: string;
}

/**
 * The error of a tool that was not contained. `reached` lists its findings; `seed` repeats the run.
 */
export class ContainmentError extends EthosError {
  override name = 'ContainmentError';
  declare readonly code: 'NOT_CONTAINED';
  readonly reached: readonly Reached[];
  readonly seed: number;

  /**
   * Makes the error from the findings of a run.
   *
   * @param toolName the name of the tool
   * @param reached the findings, each with its scenario
   * @param seed the seed that repeats the run
   */
  constructor(toolName: string, reached: readonly Reached[], seed: number) {
    const lines = reached.map(({ scenario, what }) => `  - ${scenario}: ${what}`);
    super(
      'NOT_CONTAINED',
      `${toolName} reached or did what it may not; { seed: ${seed} } repeats it\n${lines.join('\n')}`,
    );
    this.reached = reached;
    this.seed = seed;
  }
}
