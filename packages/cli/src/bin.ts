#!/usr/bin/env node
// Built as one file of CommonJS, without what it imports later: Node starts that sooner.
import { EXIT } from './exit-codes.js';
import { processIo } from './process-io.js';
import { runCli } from './run-cli.js';

process.once('beforeExit', tellNeverEnding);
void runCli(process.argv.slice(2), processIo()).then((exitCode) => {
  process.off('beforeExit', tellNeverEnding);
  process.exitCode = exitCode;
});

/** A promise that nothing settles keeps no process alive. */
function tellNeverEnding(): void {
  process.stderr.write(
    'error: the command waits for a promise that nothing settles any more. Look for one in ethos.config.mjs, and in the tools that it names.\n',
  );
  process.exitCode = EXIT.failed;
}
