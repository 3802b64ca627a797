import type { CapabilityBackends } from '@ethosagent/core';
import type { DelegationProvider, PersonalityConfig, TurnAttachment } from '@ethosagent/types';

/** The temporary world that a tool runs in. */
export interface ContainedWorld {
  /** The folder within the reach. If the tool declares paths, the first of them. */
  readonly root: string;
  /** Returns the absolute path of a file in `root`. */
  readonly file: (name: string) => string;
  /** Returns a URL that the tool may fetch. If the tool declares hosts, it is on one of them. */
  readonly url: (path?: string) => string;
  /**
   * A text that occurs nowhere else. If a file or an answer contains it, it must not reach another
   * session.
   */
  readonly token: string;
}

/** A value, or a function that creates it for a world. */
export type FromWorld<T> = T | ((world: ContainedWorld) => T);

/** The calls of a tool, and the content of its world, for `assertContained`. */
export interface ContainmentOptions {
  /** Arguments with which the tool succeeds, or a list of arguments for several calls. */
  args: object | ((world: ContainedWorld) => object);
  /**
   * The contents of the files in `root`, by their paths relative to it. A few texts when absent.
   */
  files?: FromWorld<Readonly<Record<string, string | Uint8Array>>>;
  /** Answers requests to the hosts that the tool may fetch. A short text when absent. */
  answer?: (
    request: Request,
    world: ContainedWorld,
  ) => Response | string | Promise<Response | string>;
  /** Values by secret ref. Random values when absent. */
  secrets?: Readonly<Record<string, string>>;
  /**
   * Programs for `/bin/sh`, by the name of a declared binary. For a binary without a program,
   * honest calls run the one of this machine.
   */
  binaries?: Readonly<Record<string, string>>;
  /** The id and the policy of the personality. Its reach is the folder of the world. */
  personality?: Pick<Partial<PersonalityConfig>, 'id' | 'safety'>;
  attachments?: readonly TurnAttachment[];
  /** The texts in the memories of the call, by heading. A few texts when absent. */
  memory?: FromWorld<Readonly<Record<string, string>>>;
  /** The messages in earlier sessions of the same owner. A few texts when absent. */
  messages?: FromWorld<readonly string[]>;
  /** Answers the tasks that the tool delegates. When absent, the answer is a short text. */
  delegation?: DelegationProvider;
  /** The personality's settings for the tool. */
  settings?: Readonly<Record<string, unknown>>;
  /** Decides on calls that require approval. When absent, all are approved. */
  approve?: NonNullable<CapabilityBackends['approve']>;
  /** The seed of a run to repeat. Random when absent. */
  seed?: number;
  /** The number of rounds of a scenario that repeats. 6 when absent, 200 in a long run. */
  rounds?: number;
  /**
   * The most MiB by which the memory of this process may grow under a flood. 400 when absent. On Linux,
   * each flood resets its `maxRSS`. Elsewhere, growth while a tool blocks the thread is seen only beyond
   * the `maxRSS` so far.
   */
  maxGrowthMb?: number;
  /** The scenarios to run. When absent, all that apply to the tool's capabilities. */
  scenarios?: readonly ScenarioName[];
}

/** The names of the scenarios, in the order in which they run. */
export const SCENARIO_NAMES = [
  'honest',
  'hostile arguments',
  'hostile content',
  'redirects',
  'hanging peers',
  'floods',
  'symlink swaps',
  'aborts',
  'secrets',
  'sessions',
] as const;

export type ScenarioName = (typeof SCENARIO_NAMES)[number];
