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

/** What one program may do. */
export interface ProgramLimits {
  maxCalls: number;
  /** Further calls wait in the program. */
  maxCallsAtOnce: number;
}

/** After its last call, so many more bytes of a program are read. */
const MAX_DISCARDED_BYTES = 16 * MAX_CALL_BYTES;

/** Runs the calls that one program makes, as long as it runs. */
export class ProgramCalls {
  readonly #calls: ScopedCalls;
  readonly #limits: ProgramLimits;
  readonly #over = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #serving: Promise<void> | undefined;
  #channel: ProcessChannel | undefined;
  #lastId = 0;
  /** Calls that were made, those that were refused included. */
  count = 0;

  constructor(calls: ScopedCalls, limits: ProgramLimits) {
    this.#calls = calls;
    this.#limits = limits;
  }

  /** Serves a program from its beginning on. */
  serve(channel: ProcessChannel): void {
    this.#channel = channel;
    this.#serving = this.#serve(channel);
  }

  /** To be called when the program has ended. Aborts what still runs for it, and waits for that. */
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

  /** @throws `PROGRAM_INVALID`, `PROGRAM_LIMIT` */
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

/** Reads on for a while: a program that is blocked in a write can't read the last answer. */
async function discard(channel: ProcessChannel): Promise<void> {
  let bytes = 0;
  for await (const chunk of channel.received) {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) return;
  }
}
