import { createHash, randomUUID } from 'node:crypto';
import { pendingCalls, type ToolSession } from '@ethosagent/core';
import { canonicalJson, Turns } from '@ethosagent/policy';

interface IssuedCall {
  name: string;
  args: unknown;
}

/**
 * Gives calls the ids by which the session knows them.
 *
 * A client has a new id for each request, also where its model repeats a call. So an id here begins
 * with a digest of the tool and its arguments, and ends in something that no other call has. A call
 * takes the id of one that waits and has the same beginning, the decided ones first, and a new id
 * else. A decision is for one id, the session takes it up once, and judges again what the call would
 * reach: so each yes runs one call, that very one, however often the client repeats it.
 */
export class CallIds {
  readonly #session: Pick<ToolSession, 'pending'>;
  readonly #turns = new Turns();

  constructor(session: Pick<ToolSession, 'pending'>) {
    this.#session = session;
  }

  /**
   * Runs a call under its id. Of calls that could take the id of one that waits, one goes at a time.
   * @throws as the session's store does; the reason of `signal`; what `run` throws
   */
  async run<T>(
    call: IssuedCall,
    signal: AbortSignal,
    run: (toolCallId: string) => Promise<T>,
  ): Promise<T> {
    const same = digestOf(call);
    if ((await this.#waiting(same)) === undefined) return run(`${same}.${randomUUID()}`);
    return this.#turns.run(
      same,
      async () => run((await this.#waiting(same)) ?? `${same}.${randomUUID()}`),
      signal,
    );
  }

  async #waiting(same: string): Promise<string | undefined> {
    const waiting = (await pendingCalls(this.#session)).filter(({ toolCallId }) =>
      toolCallId.startsWith(`${same}.`),
    );
    const decided = waiting.find(({ decision }) => decision !== undefined);
    return (decided ?? waiting[0])?.toolCallId;
  }
}

/** Base64url, which has no dot. */
function digestOf({ name, args }: IssuedCall): string {
  return createHash('sha256')
    .update(canonicalJson([name, args]))
    .digest('base64url');
}
