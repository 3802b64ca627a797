import { errorText } from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type ProcessChannel,
  type ScopedCalls,
  type ToolResult,
} from '@ethosagent/types';
import { linesOf } from './lines-of.js';
import {
  answerLine,
  endLine,
  invalid,
  MAX_CALL_BYTES,
  type ProgramCall,
  readProgramCall,
} from './program-call.js';

/** Limits on the calls of one program. */
export interface ProgramLimits {
  maxCalls: number;
  /** How many calls run at the same time. Further calls wait in the program. */
  maxCallsAtOnce: number;
}

/** How many more bytes of a program are read after it may make no more calls. */
const MAX_DISCARDED_BYTES = 16 * MAX_CALL_BYTES;

/** Runs the calls of one program while the program runs. */
export class ProgramCalls {
  readonly #calls: ScopedCalls;
  readonly #limits: ProgramLimits;
  readonly #over = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #serving: Promise<void> | undefined;
  #channel: ProcessChannel | undefined;
  #lastId = 0;
  /** The number of calls that the program made, refused calls included. */
  count = 0;

  constructor(calls: ScopedCalls, limits: ProgramLimits) {
    this.#calls = calls;
    this.#limits = limits;
  }

  /** Starts to serve the calls of a program that has just started. */
  serve(channel: ProcessChannel): void {
    this.#channel = channel;
    this.#serving = this.#serve(channel);
  }

  /**
   * Aborts the calls that still run, and waits for their end. Call it when the program has ended.
   */
  async end(): Promise<void> {
    this.#over.abort(new EthosError('CALL_ENDED', 'the program that made the call has ended'));
    this.#channel?.close();
    await this.#serving;
    await Promise.all(this.#running);
  }

  async #serve(channel: ProcessChannel): Promise<void> {
    const { signal } = this.#over;
    try {
      const onTooLong = () => invalid(`a line of more than ${MAX_CALL_BYTES} bytes`);
      const lines = linesOf(channel.received, { maxBytes: MAX_CALL_BYTES, onTooLong });
      for await (const line of lines) {
        const call = this.#next(line);
        // Nothing more is read during this wait.
        while (this.#running.size >= this.#limits.maxCallsAtOnce) {
          await Promise.race(this.#running);
        }
        if (signal.aborted) return;
        this.#run(call, channel);
      }
    } catch (error) {
      // Running calls are aborted, and no further call is accepted. The channel stays open until the program
      // has ended, so that it gets the answer.
      this.#over.abort(error);
      await channel.send(endLine(error)).catch(() => {});
      await discard(channel);
    }
  }

  /** Reads the next call. @throws `PROGRAM_INVALID`, or `PROGRAM_LIMIT` for one call too many */
  #next(line: string): ProgramCall {
    const { maxCalls } = this.#limits;
    const call = readProgramCall(line, this.#lastId);
    if (this.count >= maxCalls) {
      throw new EthosError(
        'PROGRAM_LIMIT',
        `the program made its ${maxCalls} calls; ask for less, or do it in several programs`,
      );
    }
    this.#lastId = call.id;
    this.count += 1;
    return call;
  }

  #run({ id, tool, args }: ProgramCall, channel: ProcessChannel): void {
    const running = this.#answer(tool, args)
      .then((result) => channel.send(answerLine(id, result)))
      // The program has ended and can not read the answer.
      .catch(() => {})
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #answer(tool: string, args: unknown): Promise<ToolResult> {
    try {
      return await this.#calls.call(tool, args, { signal: this.#over.signal });
    } catch (error) {
      const cause = errorCodeOf(error);
      return {
        ok: false,
        code: 'not_available',
        error: errorText(error),
        ...(cause !== undefined && { cause }),
      };
    }
  }
}

/**
 * Reads further bytes without using them: a program that is blocked in a write can't read the last
 * answer.
 */
async function discard(channel: ProcessChannel): Promise<void> {
  let bytes = 0;
  for await (const chunk of channel.received) {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) return;
  }
}
