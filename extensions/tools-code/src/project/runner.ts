import type { ScopedFs } from '@ethosagent/types';
import type { OutputParser } from '../output/output-parser.js';
import type { ProjectFiles } from './project-files.js';
import type { ProjectMarkers } from './project-markers.js';

/** The language that a runner is for. */
export type Language = 'javascript' | 'python' | 'rust' | 'go' | 'php' | 'ruby' | 'java';

/** What a tool is to check, and how. */
export interface RunRequest {
  /** The folder of the project, in which the tool runs. All paths are absolute. */
  root: string;
  /** A file or folder below the root; `undefined` for the whole project. */
  target: string | undefined;
  isTargetFile: boolean;
  /** A text in the names of the tests to run; `undefined` for all tests. */
  filter: string | undefined;
  /** Whether to repair what the tool can repair. */
  fix: boolean;
  /**
   * A random text. It marks the lines of the tool's own reporter, so that tests can't forge them
   * easily.
   */
  mark: string;
}

/** A way to run a tool. */
export interface RunCommand {
  binary: string;
  args: string[];
  cwd: string;
  /** Environment variables in addition to those of the host. */
  env?: Readonly<Record<string, string>>;
  /** Commands of the project's own script that are not run. */
  left?: readonly string[];
  /** The folder that paths in the report start from. `cwd` when absent. */
  base?: string;
  /** The version of the tool, if it is known before the run. */
  version?: string;
  /** Matches the output when the tool itself is missing. */
  missing?: RegExp;
}

/** How to find a tool, run it, and read its report. */
export interface Runner<R> {
  readonly name: string;
  /** The name of the tool as people write it. */
  readonly title: string;
  readonly language: Language;
  readonly signs: ProjectMarkers;
  /** `false` when the tool can only run all tests. */
  readonly takesFilter?: false;
  /** `false` when the tool always works on the whole project. */
  readonly takesPath?: false;
  /** `false` when the tool can't repair. */
  readonly takesFix?: false;
  /**
   * Returns the ways to run the tool, the best first. When the binary of one is missing, the next
   * one is tried. There are none when the project's own copy of the tool is missing.
   */
  commands(request: RunRequest, files: ProjectFiles): Promise<RunCommand[]>;
  parser(request: RunRequest): OutputParser<R>;
  /** Reads the report from files of the project after a run, if the tool writes it there. */
  readFiles?(request: RunRequest, fs: ScopedFs): Promise<R | undefined>;
}
