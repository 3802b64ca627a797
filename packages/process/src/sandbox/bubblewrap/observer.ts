import { constants } from 'node:os';
import type { SandboxObserver } from '../sandbox.js';
import { GO, READY, SHELL_NAME } from './begin.js';

const MAX_COMPLAINT_BYTES = 64 * 1024;

/** The exit codes of a shell that can't run a command. */
const NOT_RUN = new Set([126, 127]);

// Bubblewrap exits with 128 + n for a child that was ended by signal n, as shells do. SIGHUP is
// left out: git and other programs exit with 129 when they are used wrongly.
const TOLD_BY_EXIT_CODE: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGPIPE',
  'SIGALRM',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
];

/** Separates the messages of a sandbox from the output of its command. */
export class BubblewrapObserver implements SandboxObserver {
  readonly #answer: (go: string) => void;
  #complaint = Buffer.alloc(0);
  #begun = false;

  /** @param answer called once, when the sandbox is ready for the command */
  constructor(answer: (go: string) => void) {
    this.#answer = answer;
  }

  /** The part of the standard error that the command wrote. */
  ofCommand(chunk: Buffer): Buffer {
    if (this.#begun) return chunk;
    const seen = Buffer.concat([this.#complaint, chunk]);
    const at = seen.indexOf(READY);
    this.#begun = at >= 0;
    this.#complaint = seen.subarray(0, at >= 0 ? at : MAX_COMPLAINT_BYTES);
    if (this.#begun) this.#answer(GO);
    return this.#begun ? seen.subarray(at + READY.length) : Buffer.alloc(0);
  }

  /** Why the command did not run, or `undefined`. */
  failure(exitCode: number | null, stderr: string): string | undefined {
    if (!this.#begun) return this.#complaint.toString('utf8');
    const notRun = exitCode !== null && NOT_RUN.has(exitCode);
    return notRun && stderr.startsWith(`${SHELL_NAME}: `) ? stderr : undefined;
  }

  /** The signal that an exit code stands for. */
  signal(exitCode: number | null): NodeJS.Signals | undefined {
    return TOLD_BY_EXIT_CODE.find((signal) => exitCode === 128 + constants.signals[signal]);
  }
}
