import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { isThenable } from '@ethosagent/policy';
import type { SpawnOpts } from '@ethosagent/types';
import { CappedOutput } from './capped-output.js';

/**
 * How much a pipe may still hold after its writer has exited, and how long a slow reader may take.
 */
const MAX_LEFT_IN_PIPE_BYTES = 1024 * 1024;
const MAX_DRAIN_MS = 30_000;

export interface ChildOutputOptions {
  name: 'stdout' | 'stderr';
  maxBytes: number;
  overflow: SpawnOpts['overflow'];
  onOutput: SpawnOpts['onOutput'];
  /** The part of a chunk that the command itself wrote. */
  ofCommand: (chunk: Buffer) => Buffer;
  /** Called when there is more output than may be kept, and it may not be dropped. */
  onOver: () => void;
  /** Called with what `onOutput` threw. */
  onFailure: (error: unknown) => void;
}

/**
 * One output stream of a child. Keeps what fits, and passes the rest on at the speed of the reader.
 */
export class ChildOutput {
  readonly #stream: Readable | null;
  readonly #options: ChildOutputOptions;
  readonly #kept: CappedOutput;
  readonly #decoder = new StringDecoder('utf8');
  #isHandingOn = false;
  #wasHandingOn = false;
  #waiting = '';
  #isSilent = false;
  readonly #idle: Array<() => void> = [];
  #bytes = 0;
  #atExit: { bytes: number; time: number } | undefined;

  constructor(stream: Readable | null, options: ChildOutputOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#kept = new CappedOutput(options.maxBytes);
    stream?.on('data', (chunk: Buffer) => this.#add(options.ofCommand(chunk)));
    if (options.onOutput !== undefined) stream?.on('end', () => this.#handOn(this.#decoder.end()));
  }

  get truncated(): boolean {
    return this.#kept.truncated;
  }

  text(): string {
    return this.#kept.text();
  }

  /** To be called when the child has exited. */
  exited(): void {
    this.#atExit = { bytes: this.#bytes, time: performance.now() };
  }

  /**
   * Whether output that the child wrote before it exited may still be on its way, because the
   * reader is slow. Looks at the time since the last call. It is limited: a process that the child
   * left behind could write for ever.
   */
  isDraining(): boolean {
    const was = this.#wasHandingOn;
    this.#wasHandingOn = this.#isHandingOn;
    if (!was && !this.#isHandingOn) return false;
    if (this.#atExit === undefined) return true;
    return (
      this.#bytes - this.#atExit.bytes < MAX_LEFT_IN_PIPE_BYTES &&
      performance.now() - this.#atExit.time < MAX_DRAIN_MS
    );
  }

  /** Stops passing output on. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Resolves when everything that arrived was passed on. */
  handedOn(): Promise<void> | undefined {
    if (!this.#isHandingOn) return undefined;
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    const { overflow, onOver, onOutput } = this.#options;
    if (!this.#kept.add(bytes) && overflow !== 'drop') onOver();
    if (onOutput !== undefined) this.#handOn(this.#decoder.write(bytes));
  }

  #handOn(text: string): void {
    if (text === '' || this.#isSilent) return;
    if (this.#isHandingOn) {
      // Node itself resumes a paused stream when the child exits.
      this.#stream?.pause();
      this.#waiting += text;
      return;
    }
    const { name, onOutput, onFailure } = this.#options;
    try {
      const pending: unknown = onOutput?.(text, name);
      if (!isThenable(pending)) return;
      this.#isHandingOn = true;
      this.#wasHandingOn = true;
      this.#stream?.pause();
      Promise.resolve(pending)
        .catch(onFailure)
        .finally(() => this.#handedOn());
    } catch (error) {
      onFailure(error);
    }
  }

  #handedOn(): void {
    this.#isHandingOn = false;
    const text = this.#waiting;
    this.#waiting = '';
    this.#handOn(text);
    if (this.#isHandingOn) return;
    this.#stream?.resume();
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
