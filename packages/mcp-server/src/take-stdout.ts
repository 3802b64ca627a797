import { Writable } from 'node:stream';

/** The standard output, for a single writer. */
export interface TakenStdout {
  readonly stream: Writable;
  giveBack(): void;
}

/**
 * Takes the standard output for messages. What other code writes to it goes to the standard error.
 */
export function takeStdout(): TakenStdout {
  const { stdout, stderr } = process;
  const write = stdout.write;
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, encoding, done) => {
      write.call(stdout, chunk, encoding, done);
    },
  });
  // Each answer that the client has not taken yet waits with a listener of its own.
  stream.setMaxListeners(0);
  const fail = (error: Error) => stream.destroy(error);
  stdout.once('error', fail);
  stdout.write = stderr.write.bind(stderr);
  return {
    stream,
    giveBack() {
      stdout.off('error', fail);
      stdout.write = write;
    },
  };
}
