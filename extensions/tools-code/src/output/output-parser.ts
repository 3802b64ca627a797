/** Which stream a text came from. */
export type OutputStream = 'stdout' | 'stderr';

/**
 * Builds a report from the output of a tool while the tool writes. It holds only what the report
 * needs.
 */
export interface OutputParser<R> {
  add(text: string, stream: OutputStream): void;
  /** Returns the report; `undefined` when the tool ended without one. */
  end(exitCode: number): R | undefined;
}
