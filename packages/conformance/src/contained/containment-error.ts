import { EthosError } from '@ethosagent/types';
import type { Promised } from '../promised.js';
import type { ScenarioName } from './options.js';

/** Something that a tool reached, or did, and may not. */
export interface Reached {
  scenario: ScenarioName;
  /** The promise that it breaks. */
  promised: Promised;
  /** What it was. Holds no secret and no content. */
  what: string;
}

/** A tool was not contained. `reached` lists how, `seed` repeats it. */
export class ContainmentError extends EthosError {
  override name = 'ContainmentError';
  declare readonly code: 'NOT_CONTAINED';
  readonly reached: readonly Reached[];
  readonly seed: number;

  /**
   * A tool reached what it may not.
   *
   * @param toolName of the tool
   * @param reached each thing, with the scenario
   * @param seed repeats the run
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
