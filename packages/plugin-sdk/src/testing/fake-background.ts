import {
  type BackgroundOutput,
  type BackgroundProcess,
  type BackgroundProcesses,
  CapabilityError,
  EthosError,
  type ProcessResult,
  type SpawnOpts,
  type ToolContext,
} from '@ethosagent/types';

/** The registry's default for one session. */
const MAX_RUNNING = 8;
const DEFAULT_READ_CHARS = 100_000;
const MAX_WAIT_MS = 600_000;

/** A background process of a tool. A test can write its output, and end it. */
export class FakeBackgroundProcess {
  /** The session that it belongs to, and the personality that sees it. */
  readonly owner: Pick<ToolContext, 'sessionId' | 'personalityId'>;
  /** Whether the tool started it with an open input. */
  takesInput = false;
  /** The texts that the tool wrote to its input, the oldest first. */
  readonly input: string[] = [];
  readonly #now: () => number;
  readonly #chunks: BackgroundOutput['chunks'] = [];
  readonly #waiting = new Set<() => void>();
  #info: BackgroundProcess;

  /**
   * Creates a process that runs only in the test.
   *
   * @param started its id, binary and arguments
   * @param owner the session that it belongs to, and the personality that sees it
   * @param now returns milliseconds since the epoch
   */
  constructor(
    started: Pick<BackgroundProcess, 'id' | 'binary' | 'args'>,
    owner: FakeBackgroundProcess['owner'],
    now: () => number,
  ) {
    this.owner = owner;
    this.#now = now;
    this.#info = { ...started, state: 'running', startedAt: now() };
  }

  /** The current state of the process. */
  get info(): BackgroundProcess {
    return { ...this.#info, args: [...this.#info.args] };
  }

  /**
   * Adds to the output of the process. After its end this does nothing.
   *
   * @param text the output
   * @param stream the stream that gets it
   */
  write(text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    if (this.#info.state === 'ended' || text === '') return;
    this.#chunks.push({ stream, text });
    this.#notify();
  }

  /**
   * Keeps a text that the tool writes to the input of the process.
   *
   * @param text the input
   * @throws `PROCESS_ENDED` when the process has ended, or was started without an open input
   */
  take(text: string): void {
    if (!this.takesInput || this.#info.state === 'ended') {
      throw new EthosError('PROCESS_ENDED', `${this.#info.id} takes no input; start it again`);
    }
    this.input.push(text);
  }

  /**
   * Ends the process. After its end this does nothing.
   *
   * @param outcome how it ends; with exit code 0 when absent
   */
  end(
    outcome: Pick<BackgroundProcess, 'exitCode' | 'signal' | 'timedOut' | 'error'> = {
      exitCode: 0,
    },
  ): void {
    if (this.#info.state === 'ended') return;
    this.#info = { ...this.#info, ...outcome, state: 'ended', endedAt: this.#now() };
    this.#notify();
  }

  /**
   * Returns the output from a place on, as `BackgroundProcesses.read` does.
   *
   * @param cursor where to begin, in UTF-16 code units from the start of the output
   * @param maxChars the most that is returned, in UTF-16 code units; 100,000 when absent
   * @returns the pieces, and the next cursor
   */
  read(cursor = 0, maxChars = DEFAULT_READ_CHARS): BackgroundOutput {
    const chunks: BackgroundOutput['chunks'] = [];
    let place = 0;
    let room = maxChars;
    let next = Math.max(0, Math.min(cursor, this.#length));
    for (const { stream, text } of this.#chunks) {
      const begin = Math.max(0, next - place);
      const part = text.slice(begin, begin + room);
      place += text.length;
      if (part === '') continue;
      chunks.push({ stream, text: part });
      next += part.length;
      room -= part.length;
    }
    return { process: this.info, chunks, cursor: next, droppedChars: 0 };
  }

  /**
   * Resolves when there is output after the cursor, when the process has ended, or when `signal`
   * fires.
   *
   * @param cursor a place in the output, in UTF-16 code units
   * @param signal ends the wait, without an error
   */
  async changed(cursor: number, signal: AbortSignal): Promise<void> {
    while (this.#info.state === 'running' && cursor >= this.#length && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  get #length(): number {
    return this.#chunks.reduce((sum, { text }) => sum + text.length, 0);
  }

  #notify(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

export interface FakeBackgroundOptions {
  /** The processes of the test, in all its sessions. New ones are added. */
  processes: FakeBackgroundProcess[];
  owner: FakeBackgroundProcess['owner'];
  /** Ends the waiting for output. */
  signal: AbortSignal;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  allows: (binary: string) => boolean;
  /** Checks a start. Returns the function that answers for the process. */
  begin: (
    binary: string,
    args: readonly string[],
    opts: SpawnOpts,
  ) => (opts: SpawnOpts) => Promise<ProcessResult>;
  /** Runs `run` and records an allowed access, or a denied one if `run` throws a denial. */
  record: <T>(operation: string, target: string, run: () => T) => T;
}

/** Creates the background processes of one session and personality. They start nothing. */
export function createFakeBackground(options: FakeBackgroundOptions): BackgroundProcesses {
  const { processes, owner, signal, now, allows, begin, record } = options;
  const ofSession = () => processes.filter((held) => held.owner.sessionId === owner.sessionId);
  const seen = () =>
    ofSession().filter(
      (held) => held.owner.personalityId === owner.personalityId && allows(held.info.binary),
    );
  const find = (id: string) => {
    const held = seen().find(({ info }) => info.id === id);
    if (held !== undefined) return held;
    throw new EthosError(
      'PROCESS_NOT_FOUND',
      `this session has no background process ${JSON.stringify(id)}; list those that there are`,
    );
  };
  const assertRoom = () => {
    const running = ofSession().filter(({ info }) => info.state === 'running').length;
    if (running < MAX_RUNNING) return;
    throw new CapabilityError(
      'TOO_MANY_PROCESSES',
      `${running} background processes of this session are running, which is as many as may; stop one that is no longer needed`,
      `at most ${MAX_RUNNING} background processes`,
    );
  };
  return {
    async start(binary, args, opts = {}) {
      const answer = record('start', binary, () => {
        assertRoom();
        return begin(binary, args, opts);
      });
      const id = `bg-${ofSession().length + 1}`;
      const started = { id, binary, args: [...args] };
      const held = new FakeBackgroundProcess(started, owner, now);
      held.takesInput = opts.keepsInput === true;
      processes.push(held);
      const { info } = held;
      answer({ ...opts, onOutput: (text, stream) => held.write(text, stream) }).then(
        ({ stdout: _, stderr: __, truncated: ___, ...outcome }) => held.end(outcome),
        (error: unknown) =>
          held.end({ error: error instanceof Error ? error.message : String(error) }),
      );
      return info;
    },
    async list() {
      return record('list', '*', () => seen().map(({ info }) => info));
    },
    async read(id, { cursor = 0, maxChars, waitMs = 0 } = {}) {
      const held = record('read', id, () => find(id));
      if (waitMs > 0) {
        const timeout = AbortSignal.timeout(Math.min(waitMs, MAX_WAIT_MS));
        await held.changed(cursor, AbortSignal.any([signal, timeout]));
      }
      return held.read(cursor, maxChars);
    },
    async write(id, text) {
      const held = record('write', id, () => find(id));
      held.take(text);
      return held.info;
    },
    async stop(id) {
      const held = record('stop', id, () => find(id));
      held.end({ exitCode: 143, signal: 'SIGTERM' });
      return held.info;
    },
  };
}
