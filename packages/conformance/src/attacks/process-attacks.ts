import { describe } from 'vitest';
import type { CreateCall } from './process/attacked-call.js';
import { escapeAttacks } from './process/escape-attacks.js';
import { limitAttacks } from './process/limit-attacks.js';
import { outcomeAttacks } from './process/outcome-attacks.js';
import { sandboxRaceAttacks } from './process/race-attacks.js';
import { type StartHost, survivorAttacks } from './process/survivor-attacks.js';

/** What processes promise, and so are held to. */
export interface ProcessAttackOptions {
  /**
   * Whether processes are sandboxed. Then none can leave its call behind, whatever it does, and
   * what it sees and reaches is tried as well. `false` when absent.
   */
  sandboxed?: boolean;
  /** A host to be killed, in a process of its own. Nobody is killed when absent. */
  startHost?: StartHost;
}

/**
 * Attacks the processes of calls: trees that try to outlive a time-out, an abort, the end of their
 * call or of their host, floods of output, and, where they are sandboxed, escapes of every kind.
 * Call it in a test file, on Linux.
 *
 * It reads well-known places of the machine and writes only to a temporary folder of its own.
 *
 * @param name of the implementation, for the names of the tests
 * @param create makes the processes of a call, which may run any binary
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
