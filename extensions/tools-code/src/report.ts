/** How much a problem matters. */
export type Severity = 'error' | 'warning' | 'info';

/** One thing that a linter or a type checker found. */
export interface Problem {
  /** Relative to the working directory where it lies below it. Empty where the tool names none. */
  file: string;
  /** Counted from 1; 0 where the problem is of the whole file. */
  line: number;
  /** Counted from 1; 0 where the tool names none. */
  column: number;
  endLine?: number;
  endColumn?: number;
  /** The rule or error code, as the tool names it. */
  rule?: string;
  severity: Severity;
  message: string;
}

/** How a test ended. */
export type TestStatus = 'passed' | 'failed' | 'skipped' | 'todo';

/** One test, or a file of tests that could not be loaded. */
export interface TestCase {
  /** With the names of the groups it is in. */
  name: string;
  file?: string;
  /** Counted from 1. */
  line?: number;
  status: TestStatus;
  durationMs?: number;
  failure?: { message: string; stack?: string };
}

/** What a linter or a type checker reported. */
export interface ProblemReport {
  /** Set where only the exit code says whether something is wrong. */
  byExitCode?: true;
  problems: Problem[];
}

/** What a test runner reported. */
export interface TestReport {
  /** Set where only the exit code says whether tests failed. */
  byExitCode?: true;
  tests: TestCase[];
  /** Why something could not be built, where the language has a compiler. */
  problems: Problem[];
}
