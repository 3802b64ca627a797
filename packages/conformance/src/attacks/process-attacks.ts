import { describe } from 'vitest';
import type { CreateCall } from './process/attacked-call.js';
import { escapeAttacks } from './process/escape-attacks.js';
import { limitAttacks } from './process/limit-attacks.js';
import { outcomeAttacks } from './process/outcome-attacks.js';
import { sandboxRaceAttacks } from './process/race-attacks.js';
import { type StartHost, survivorAttacks } from './process/survivor-attacks.js';

/** The promises of an implementation of processes. */
export interface ProcessAttackOptions {
  /**
   * Whether processes are sandboxed. If so, no process may outlive its call, whatever it does, and
   * the tests also try to leave the sandbox. `false` when absent.
   */
  sandboxed?: boolean;
  /** Starts a host in a process of its own, which a test kills. When absent, no host is killed. */
  startHost?: StartHost;
}

/**
 * Registers tests that attack the processes of calls: with process trees that try to outlive a
 * time-out, an abort, or the end of their call or host, and with floods of output. If processes are
 * sandboxed, the tests also try to escape. Call it in a test file, on Linux.
 *
 * The tests read well-known places of the machine, and write only to a temporary folder of their
 * own.
 *
 * @param name the name of the implementation, for the names of the tests
 * @param create creates the processes of a call, which may run any binary
 * @param options whether processes are sandboxed, and how to start a host that is killed
 */
export function processAttacks(
  name: string,
  create: CreateCall,
  { sandboxed = false, startHost }: ProcessAttackOptions = {},
): void {
  describe(`${name} under attack`, () => {
    survivorAttacks(create, { holdsAll: sandboxed, startHost });
    outcomeAttacks(create);
    if (!sandboxed) return;
    escapeAttacks(create);
    sandboxRaceAttacks(create);
    limitAttacks(create);
  });
}
