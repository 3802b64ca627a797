import type { SummaryKind } from './summary.js';

/** A published package whose tests are run both ways. */
export interface Project {
  /** Name and version on npm, or a name here where `files` makes it. */
  name: string;
  /** What `run_tests` is to find. */
  runner: string;
  /** Packages that its tests need. */
  install: readonly string[];
  /** A command that makes what its tests need beside packages. */
  prepare?: string;
  /** The script that runs its tests and nothing else, or a command. */
  direct: { script: string } | { command: string };
  /** How its own summary is read. */
  summary: SummaryKind;
  /** Files that are written over those of the package. */
  files?: Readonly<Record<string, string>>;
}
