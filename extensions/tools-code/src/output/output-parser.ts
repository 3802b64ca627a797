/** Which stream a text came from. */
export type OutputStream = 'stdout' | 'stderr';

/** Makes a report of what a tool writes, while it writes. Holds no more than the report needs. */
export interface OutputParser<R> {
  add(text: string, stream: OutputStream): void;
  /** The report; `undefined` where the tool ended without one. */
  end(exitCode: number): R | undefined;
}
