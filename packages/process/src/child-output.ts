import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { isThenable } from '@ethosagent/policy';
import type { SpawnOpts } from '@ethosagent/types';
import { CappedOutput } from './capped-output.js';

/** What a pipe may still hold when its writer has exited, and how long a slow reader may take. */
const MAX_LEFT_IN_PIPE_BYTES = 1024 * 1024;
const MAX_DRAIN_MS = 30_000;

export interface ChildOutputOptions {
  name: 'stdout' | 'stderr';
  maxBytes: number;
  overflow: SpawnOpts['overflow'];
  onOutput: SpawnOpts['onOutput'];
  /** What of a chunk is the command's. */
  ofCommand: (chunk: Buffer) => Buffer;
  /** Called when there is more than may be kept, and it may not be dropped. */
  onOver: () => void;
  /** Called with what `onOutput` threw. */
  onFailure: (error: unknown) => void;
}

/** One output stream of a child: keeps what fits, and hands on what comes, no faster than wanted. */
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
   * Whether what the child wrote before it exited may still be on its way, since it was last asked:
   * who reads is slow. A process that the child left behind could write for ever.
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

  /** Hands nothing on any more. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Resolves when all that came was handed on. */
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
      // Node itself lets a paused stream go on when the child exits.
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
