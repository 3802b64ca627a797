/** How serious a problem is. */
export type Severity = 'error' | 'warning' | 'info';

/** A problem that a linter or a type checker found. */
export interface Problem {
  /** The file: relative when it is below the working directory. Empty when the tool names none. */
  file: string;
  /** The line, counted from 1; 0 when the problem concerns the whole file. */
  line: number;
  /** The column, counted from 1; 0 when the tool names none. */
  column: number;
  endLine?: number;
  endColumn?: number;
  /** The rule or the error code, as the tool names it. */
  rule?: string;
  severity: Severity;
  message: string;
}

/** How a test ended. */
export type TestStatus = 'passed' | 'failed' | 'skipped' | 'todo';

/** A test, or a test file that could not be loaded. */
export interface TestCase {
  /** The name of the test, after the names of its groups. */
  name: string;
  file?: string;
  /** The line of the test, counted from 1. */
  line?: number;
  status: TestStatus;
  durationMs?: number;
  failure?: { message: string; stack?: string };
}

/** The report of a linter or a type checker. */
export interface ProblemReport {
  /** Set when only the exit code says whether there are problems. */
  byExitCode?: true;
  problems: Problem[];
}

/** The report of a test runner. */
export interface TestReport {
  /** Set when only the exit code says whether tests failed. */
  byExitCode?: true;
  tests: TestCase[];
  /** The problems that a compiler found before the tests, if the language has one. */
  problems: Problem[];
}
