import type { CapabilityBackends } from '@ethosagent/core';
import type { DelegationProvider, PersonalityConfig, TurnAttachment } from '@ethosagent/types';

/** The temporary world that a tool runs in. */
export interface ContainedWorld {
  /** The folder in reach. The first path that the tool declares, where it declares paths. */
  readonly root: string;
  /** The absolute path of a file of `root`. */
  readonly file: (name: string) => string;
  /** A URL that the tool may fetch: on its own host where it declares one. */
  readonly url: (path?: string) => string;
  /** Found nowhere else. What a file or an answer says with it must not reach another session. */
  readonly token: string;
}

/** A value, or a function that creates it for a world. */
export type FromWorld<T> = T | ((world: ContainedWorld) => T);

/** How `assertContained` runs a tool. */
export interface ContainmentOptions {
  /** Arguments with which the tool works; a list of them, for several calls. */
  args: object | ((world: ContainedWorld) => object);
  /** What the files of `root` hold, by name relative to it. A few texts when absent. */
  files?: FromWorld<Readonly<Record<string, string | Uint8Array>>>;
  /** What the hosts that the tool may fetch answer. A short text when absent. */
  answer?: (
    request: Request,
    world: ContainedWorld,
  ) => Response | string | Promise<Response | string>;
  /** Values by ref. Random ones when absent. */
  secrets?: Readonly<Record<string, string>>;
  /**
   * Programs for `/bin/sh` by name of a declared binary. Without one, honest calls run the binary
   * of this machine.
   */
  binaries?: Readonly<Record<string, string>>;
  /** The policy of the personality. The reach is the world's. */
  personality?: Pick<Partial<PersonalityConfig>, 'id' | 'safety'>;
  attachments?: readonly TurnAttachment[];
  /** What the memories of the call hold, by heading. A few texts when absent. */
  memory?: FromWorld<Readonly<Record<string, string>>>;
  /** What earlier sessions of the same owner say. A few texts when absent. */
  messages?: FromWorld<readonly string[]>;
  /** Who answers the tasks that the tool delegates. A short text is answered when absent. */
  delegation?: DelegationProvider;
  /** What the personality sets for the tool. */
  settings?: Readonly<Record<string, unknown>>;
  /** Decides on calls that require approval. All are approved when absent. */
  approve?: NonNullable<CapabilityBackends['approve']>;
  /** Repeats a run. Random when absent. */
  seed?: number;
  /** How often what is repeated is repeated. 6 when absent, 200 in a long run. */
  rounds?: number;
  /** MiB by which the memory of this process may grow under a flood. 400 when absent. */
  maxGrowthMb?: number;
  /** Those to run. All that the tool's capabilities give a meaning to when absent. */
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
