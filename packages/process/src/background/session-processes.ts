import { discard, unawaited } from '@ethosagent/policy';
import { CapabilityError } from '@ethosagent/types';
import { HeldProcess, type NewProcess } from './held-process.js';

/** How many ended processes of one session are remembered. */
const MAX_ENDED = 32;

/** The processes that the tools of one session left running. */
export class SessionProcesses {
  readonly #max: number;
  readonly #onEnded: (held: HeldProcess) => void;
  readonly #held = new Map<string, HeldProcess>();
  readonly #starting = new Set<Promise<HeldProcess>>();
  #started = 0;
  #end: { reason: unknown } | undefined;

  /**
   * Holds the background processes of one session.
   *
   * @param max how many processes may run at once
   * @param onEnded called when the tree of a process has ended
   */
  constructor(max: number, onEnded: (held: HeldProcess) => void) {
    this.#max = max;
    this.#onEnded = onEnded;
  }

  /**
   * Lists all known processes, running or ended.
   *
   * @returns the processes, the oldest first
   */
  list(): HeldProcess[] {
    return [...this.#held.values()];
  }

  /**
   * Finds a process by its id.
   *
   * @param id the id that `start` gave the process
   * @returns the process; `undefined` for an unknown id
   */
  get(id: string): HeldProcess | undefined {
    return this.#held.get(id);
  }

  get isEmpty(): boolean {
    return this.#held.size === 0 && this.#starting.size === 0;
  }

  /** @throws `CALL_ENDED` once the session has ended */
  assertOpen(): void {
    if (this.#end === undefined) return;
    throw new CapabilityError('CALL_ENDED', 'the session has ended', 'session ended');
  }

  /**
   * Starts a process in the background.
   *
   * @param process the process, and its scope
   * @returns the running process, with its id
   * @throws `TOO_MANY_PROCESSES` if as many processes of the session run as may run at once
   * @throws `CALL_ENDED` if the session has ended
   * @throws `SPAWN_FAILED` if the process can't be started
   * @throws the error of `launch`
   */
  async start(process: NewProcess): Promise<HeldProcess> {
    this.assertOpen();
    const running = this.#starting.size + this.list().filter(({ isGone }) => !isGone).length;
    if (running >= this.#max) {
      throw new CapabilityError(
        'TOO_MANY_PROCESSES',
        `${running} background processes of this session are running, which is as many as may; stop one that is no longer needed`,
        `at most ${this.#max} background processes`,
      );
    }
    const id = `bg-${++this.#started}`;
    const starting = unawaited(HeldProcess.start(id, process));
    this.#starting.add(starting);
    try {
      const held = await starting;
      this.#held.set(id, held);
      discard(held.gone.then(() => this.#ended(held)));
      return held;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /**
   * Forgets an ended process and its output.
   *
   * @param id the id that `start` gave the process
   */
  forget(id: string): void {
    this.#held.delete(id);
  }

  /**
   * Ends all processes, including those that are starting, and waits for their end. After that, no
   * process can start.
   *
   * @param reason the reason that the processes keep for their end
   */
  async end(reason: unknown): Promise<void> {
    this.#end = { reason };
    await this.endWhere(() => true, reason);
  }

  /**
   * Ends some of the processes, including those that are starting, and waits for their end.
   *
   * @param isMeant chooses the processes
   * @param reason the reason that the processes keep for their end
   */
  async endWhere(isMeant: (held: HeldProcess) => boolean, reason: unknown): Promise<void> {
    const late = await Promise.allSettled(this.#starting);
    const started = late.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const meant = [...new Set([...this.list(), ...started])].filter(isMeant);
    await Promise.all(meant.map((held) => held.abort(reason)));
  }

  #ended(held: HeldProcess): void {
    const ended = this.list().filter(({ isGone }) => isGone);
    for (const { info } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      this.#held.delete(info.id);
    }
    this.#onEnded(held);
  }
}
