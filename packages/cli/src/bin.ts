#!/usr/bin/env node
// Built as one file of CommonJS, without what it imports later: Node starts that sooner.
import { Console } from 'node:console';
import { EXIT } from './exit-codes.js';
import { processIo } from './process-io.js';
import { runCli } from './run-cli.js';

// What the configuration and tools print is not the answer.
globalThis.console = new Console(process.stderr, process.stderr);
process.once('beforeExit', tellNeverEnding);
process.once('exit', tellEarlyExit);
process.once('uncaughtException', fail);
void runCli(process.argv.slice(2), processIo(exit)).then(end, fail);

/** Ends the process, whatever the configuration or a tool has left open. */
function end(exitCode: number): void {
  process.off('beforeExit', tellNeverEnding);
  process.stdout.write('', (error) => {
    // The stream tells of the error itself, right after this.
    if (error) setImmediate(() => exit(EXIT.failed));
    else process.stderr.write('', () => exit(exitCode));
  });
}

/** The exit code 1 is for what a command has found. */
function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`error: ${text}\n`, () => exit(EXIT.failed));
}

function exit(exitCode: number): void {
  process.off('exit', tellEarlyExit);
  process.exit(exitCode);
}

/** Replaces the exit code: `process.exit(0)` would let a check pass that did not finish. */
function tellEarlyExit(): void {
  process.stderr.write(
    'error: process.exit was called before the command was done. Look for it in ethos.config.mjs, and in the tools that it names.\n',
  );
  process.exitCode = EXIT.failed;
}

/** A promise that nothing settles keeps no process alive. */
function tellNeverEnding(): void {
  process.off('exit', tellEarlyExit);
  process.stderr.write(
    'error: the command waits for a promise that nothing settles any more. Look for one in ethos.config.mjs, and in the tools that it names.\n',
  );
  process.exitCode = EXIT.failed;
}
