import { cleanText } from '@ethosagent/policy';
import { EthosError, type ProcessConnection, type SpawnOpts } from '@ethosagent/types';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { readMessage } from './json-message.js';
import { LineSplitter } from './line-splitter.js';
import { pause, TokenBucket } from './token-bucket.js';

/** Starts the process of a server, and sends its output to the given functions. */
export type OpenProcess = (
  onOutput: NonNullable<SpawnOpts['onOutput']>,
) => Promise<ProcessConnection>;

export interface ProcessTransportOptions {
  maxMessageChars: number;
  messagesPerSecond: number;
  /** A bucket for the characters of notifications and requests. While it is empty, no line of output is read. */
  unasked: Pick<TokenBucket, 'take'>;
  /** Milliseconds that a process has to end by itself. 1,000 when absent. */
  endGraceMs?: number;
}

const MAX_UNSENT_CHARS = 16_000_000;
const STDERR_TAIL_CHARS = 2_000;
const STDERR_CHARS_PER_SECOND = 200_000;
const END_GRACE_MS = 1_000;

/** The stdio transport over a process of a service. In both directions, a line is a message. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];

  readonly #open: OpenProcess;
  readonly #lines: LineSplitter;
  readonly #messages: TokenBucket;
  readonly #unasked: Pick<TokenBucket, 'take'>;
  readonly #stderrChars = new TokenBucket(STDERR_CHARS_PER_SECOND, STDERR_CHARS_PER_SECOND * 5);
  readonly #closing = new AbortController();
  readonly #endGraceMs: number;
  #process: ProcessConnection | undefined;
  #unsentChars = 0;
  #stderr = '';
  /** Whether the beginning of the line that goes on was left out of `#stderr`. */
  #stderrIsCut = false;
  #ended: string | undefined;
  #exiting: Promise<void> | undefined;
  #overlong = false;

  constructor(
    open: OpenProcess,
    {
      maxMessageChars,
      messagesPerSecond,
      unasked,
      endGraceMs = END_GRACE_MS,
    }: ProcessTransportOptions,
  ) {
    this.#open = open;
    this.#endGraceMs = endGraceMs;
    this.#unasked = unasked;
    this.#lines = new LineSplitter(maxMessageChars);
    this.#messages = new TokenBucket(messagesPerSecond, messagesPerSecond * 10);
  }

  /** Why the connection to the process has ended, if it has. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** The end of what the process wrote to its standard error. */
  get stderr(): string {
    return cleanText(this.#stderr, STDERR_TAIL_CHARS);
  }

  /**
   * Returns the last whole lines. Half a line could have half a secret, which redaction would not
   * find.
   */
  #tail(text: string): string {
    if (text.length <= STDERR_TAIL_CHARS && !this.#stderrIsCut) return text;
    const tail = text.slice(-STDERR_TAIL_CHARS);
    const end = tail.indexOf('\n');
    this.#stderrIsCut = end < 0;
    return end < 0 ? '' : tail.slice(end + 1);
  }

  async start(): Promise<void> {
    const process = await this.#open((text, stream) =>
      stream === 'stdout' ? this.#read(text) : this.#log(text),
    );
    this.#process = process;
    process.result.then(
      ({ exitCode, signal }) =>
        this.#end(signal === undefined ? `it exited with code ${exitCode}` : `${signal} ended it`),
      (error: unknown) => this.#end(error instanceof Error ? error.message : 'it failed'),
    );
    if (this.#closing.signal.aborted) await process.stop();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const process = this.#process;
    if (process === undefined || this.#ended !== undefined) {
      throw new EthosError('NETWORK_FAILED', 'the server is not connected');
    }
    // Each request adds the token that its answer takes, so that answers never count as a flood.
    if ('method' in message && 'id' in message) this.#messages.give(1);
    const line = `${JSON.stringify(message)}\n`;
    this.#unsentChars += line.length;
    if (this.#unsentChars > MAX_UNSENT_CHARS) {
      void this.#kill('it does not read what it is sent');
      throw new EthosError('NETWORK_FAILED', 'the server does not read what it is sent');
    }
    try {
      await process.write(line);
    } catch (error) {
      // The process has mostly ended, and why it did says more than that it takes no input.
      await this.#exited(process);
      throw error;
    } finally {
      this.#unsentChars -= line.length;
    }
  }

  /** Ends standard input, waits a moment for the process to end, then ends it. */
  async close(): Promise<void> {
    const process = this.#process;
    if (process !== undefined && !this.#closing.signal.aborted && this.#ended === undefined) {
      process.end();
      await this.#exited(process);
    }
    await this.#kill('it was closed');
  }

  /** Waits a moment for the process to end by itself. All that wait share the moment. */
  #exited({ result }: ProcessConnection): Promise<void> {
    const exited = () => {};
    this.#exiting ??= Promise.race([
      result.then(exited, exited),
      pause(this.#endGraceMs, this.#closing.signal),
    ]).finally(() => {
      this.#exiting = undefined;
    });
    return this.#exiting;
  }

  async #kill(reason: string): Promise<void> {
    const process = this.#process;
    this.#end(reason);
    await process?.stop();
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#closing.abort();
    this.onclose?.();
  }

  /**
   * Reads output. It returns no promise when it is already done, so that the pipe is not paused.
   */
  #read(text: string): Promise<void> | undefined {
    if (this.#overlong || this.#ended !== undefined) return undefined;
    const lines = this.#lines.push(text);
    if (lines === null) {
      this.#overlong = true;
      void this.#kill('it sent a message that is too long');
      return undefined;
    }
    const [only] = lines;
    if (only === undefined) return undefined;
    const waitMs = this.#waitMs();
    if (lines.length > 1 || waitMs > 0) return this.#readSlowly(lines, waitMs);
    this.#deliver(only);
    return undefined;
  }

  /** Returns how long to wait before the next message. */
  #waitMs(): number {
    return Math.max(this.#messages.take(1), this.#unasked.take(0));
  }

  async #readSlowly(lines: readonly string[], firstWaitMs: number): Promise<void> {
    let waitMs = firstWaitMs;
    for (const [at, line] of lines.entries()) {
      if (at > 0) waitMs = this.#waitMs();
      if (waitMs > 0) await pause(waitMs, this.#closing.signal);
      if (this.#ended !== undefined) return;
      this.#deliver(line);
      // The effects of a message come before the next message, so progress comes before the answer.
      await null;
    }
  }

  #deliver(line: string): void {
    if (line.trim() === '') return;
    const read = readMessage(line);
    if (read.ok) this.onmessage?.(read.message);
    else this.onerror?.(new EthosError('NETWORK_FAILED', `the server sent ${read.problem}`));
  }

  #log(text: string): Promise<void> | undefined {
    this.#stderr = this.#tail(this.#stderr + text);
    const waitMs = this.#stderrChars.take(text.length);
    return waitMs > 0 ? pause(waitMs, this.#closing.signal) : undefined;
  }
}
