import type { ScopedFs } from '@ethosagent/types';
import type { OutputParser } from '../output/output-parser.js';
import type { ProjectFiles } from './project-files.js';
import type { ProjectMarkers } from './project-markers.js';

/** The language that a runner is for. */
export type Language = 'javascript' | 'python' | 'rust' | 'go' | 'php' | 'ruby' | 'java';

/** What is to be checked. */
export interface RunRequest {
  /** The folder of the project, in which the tool runs. Absolute, as the others. */
  root: string;
  /** A file or folder below the root; all of the project when absent. */
  target: string | undefined;
  isTargetFile: boolean;
  /** A part of the names of tests. */
  filter: string | undefined;
  /** Repair what can be repaired. */
  fix: boolean;
  /** Random, for lines that only the tool's own reporter is to write. */
  mark: string;
}

/** A way to run a tool. */
export interface RunCommand {
  binary: string;
  args: string[];
  cwd: string;
  /** Variables beside those of the host. */
  env?: Readonly<Record<string, string>>;
  /** Commands of the project's own script that are left out. */
  left?: readonly string[];
  /** What the paths in its report start from. `cwd` when absent. */
  base?: string;
  /** Where it is known without running it. */
  version?: string;
  /** What it says when it is the tool that is missing. */
  missing?: RegExp;
}

/** How a tool is found, run and understood. */
export interface Runner<R> {
  readonly name: string;
  /** As people write it. */
  readonly title: string;
  readonly language: Language;
  readonly signs: ProjectMarkers;
  /** `false` where it runs all tests or none. */
  readonly takesFilter?: false;
  /** `false` where a path below the root can't narrow what it does. */
  readonly takesPath?: false;
  /** `false` where it can't be asked to repair. */
  readonly takesFix?: false;
  /**
   * Ways to run it, the best first; the next one is tried where the binary of one is missing. None
   * where the project's own copy is missing.
   */
  commands(request: RunRequest, files: ProjectFiles): Promise<RunCommand[]>;
  parser(request: RunRequest): OutputParser<R>;
  /** Reads the report where it is in files of the project, after a run. */
  readFiles?(request: RunRequest, fs: ScopedFs): Promise<R | undefined>;
}
