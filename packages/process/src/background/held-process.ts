import { errorText } from '@ethosagent/policy';
import { type BackgroundProcess, EthosError, type ProcessResult } from '@ethosagent/types';
import type { ChildInput } from '../child-input.js';
import { endedSoon } from '../ending-processes.js';
import type { RunningChild } from '../run-child.js';
import { OutputLog, type SecretSearch } from './output-log.js';

/** The scope of a background process, which outlives the call that started it. */
export interface ProcessLife {
  /**
   * Removes secrets from the arguments and the output of the process. Absent if there are no
   * secrets.
   */
  readonly redactor: (SecretSearch & { redact(text: string): string }) | undefined;
  /** Aborts the scope, which ends the process. */
  abort(reason: unknown): void;
  /** Called when the process has ended. */
  end(): void;
}

/** A background process that is about to start. */
export interface NewProcess {
  binary: string;
  args: readonly string[];
  personalityId: string | undefined;
  /**
   * The scope of the process. When it is aborted, the process ends. When the process has ended,
   * `end` is called.
   */
  scope: ProcessLife;
  /** The clock: milliseconds since the epoch. */
  now: () => number;
  /** Starts the process. It must pass each piece of output to `onOutput`. */
  launch(
    onOutput: (text: string, stream: 'stdout' | 'stderr') => void,
  ): Promise<Omit<RunningChild, 'pid' | 'abandon'>>;
}

/** A background process, from its start to its end. */
export class HeldProcess {
  readonly log: OutputLog;
  readonly personalityId: string | undefined;
  readonly #scope: ProcessLife;
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #info: BackgroundProcess;
  #stop: () => void = () => {};
  #input: ChildInput | undefined;
  #gone: Promise<void> = Promise.resolve();
  #isGone = false;

  private constructor(id: string, { binary, args, personalityId, scope, now }: NewProcess) {
    this.personalityId = personalityId;
    this.#scope = scope;
    this.#now = now;
    // Secrets that the call resolved must not appear in the output that a later call reads.
    this.log = new OutputLog(() => scope.redactor);
    const shown = args.map((arg) => scope.redactor?.redact(arg) ?? arg);
    this.#info = { id, binary, args: shown, state: 'running', startedAt: now() };
  }

  /**
   * Starts a process.
   *
   * @param id an id that is unique in the session
   * @param process the process, and its scope
   * @returns the running process
   * @throws `SPAWN_FAILED` if the process can't be started
   * @throws the error of `launch`
   */
  static async start(id: string, process: NewProcess): Promise<HeldProcess> {
    const held = new HeldProcess(id, process);
    const { result, started, stop, closed, input } = await process.launch((text, stream) => {
      held.log.add(stream, text);
      held.#notify();
    });
    held.#stop = stop;
    held.#input = input;
    // An abort rejects `result` at once, but the process tree ends a moment later.
    held.#gone = result
      .then(
        (ended) => held.#end(outcome(ended)),
        (error: unknown) => held.#end({ error: errorText(error) }),
      )
      .then(() => closed)
      .then(() => {
        held.#isGone = true;
      });
    await Promise.race([started, result]);
    return held;
  }

  get info(): BackgroundProcess {
    return { ...this.#info, args: [...this.#info.args] };
  }

  get isRunning(): boolean {
    return this.#info.state === 'running';
  }

  /** Whether its process tree has also ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Resolves when its process tree has ended. */
  get gone(): Promise<void> {
    return this.#gone;
  }

  /**
   * Writes to the standard input.
   *
   * @param text a text, written as UTF-8
   * @throws `PROCESS_ENDED` if the process has ended, or was started without an open input
   */
  async write(text: string): Promise<void> {
    if (this.#input === undefined || !this.isRunning) {
      const why = this.isRunning ? 'was started without an open input' : 'has ended';
      throw new EthosError('PROCESS_ENDED', `${this.#info.id} ${why}; start it again`);
    }
    await this.#input.write(text);
  }

  /** Ends the process tree, and waits up to 5 seconds for its end. */
  stop(): Promise<void> {
    if (this.isRunning) this.#stop();
    return endedSoon(this.#gone);
  }

  /**
   * Ends the process tree, and waits up to 5 seconds for its end.
   *
   * @param reason the reason that the process keeps for its end
   */
  abort(reason: unknown): Promise<void> {
    this.#scope.abort(reason);
    return endedSoon(this.#gone);
  }

  /**
   * Resolves at the next output, when the process has ended, or when `signal` fires.
   *
   * @param signal ends the wait, without an error
   */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted || !this.isRunning) done();
    });
  }

  #end(outcome: Partial<BackgroundProcess>): void {
    this.#info = { ...this.#info, ...outcome, state: 'ended', endedAt: this.#now() };
    this.log.finish();
    this.#scope.end();
    this.#notify();
  }

  #notify(): void {
    for (const done of [...this.#waiting]) done();
  }
}

function outcome({ exitCode, signal, timedOut }: ProcessResult): Partial<BackgroundProcess> {
  return {
    exitCode,
    ...(signal !== undefined && { signal }),
    ...(timedOut !== undefined && { timedOut }),
  };
}
