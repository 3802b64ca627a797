import { createHash, randomUUID } from 'node:crypto';
import { pendingCalls, type ToolSession } from '@ethosagent/core';
import { canonicalJson, depthOf, MAX_PLAIN_DEPTH, Turns } from '@ethosagent/policy';

interface IssuedCall {
  name: string;
  args: unknown;
}

/**
 * Gives calls the ids by which the session knows them.
 *
 * A client uses a new id for each request, even if its model repeats a call. So an id here begins
 * with a digest of the tool and its arguments, and ends with a part that no other call has. A call
 * takes the id of a waiting call with the same beginning, decided ones first. Without one it gets a
 * new id.
 *
 * The invariant: each approval runs exactly one call, and only the call that was approved, however
 * often the client repeats it. This holds since a decision belongs to one id, the session uses it
 * once, and the session checks again what the call would reach.
 */
export class CallIds {
  readonly #session: Pick<ToolSession, 'pending'>;
  readonly #turns = new Turns();

  constructor(session: Pick<ToolSession, 'pending'>) {
    this.#session = session;
  }

  /**
   * Runs a call under its id. Calls that could take the id of the same waiting call run one at a
   * time.
   * @throws as the session's store does; the reason of `signal`; what `run` throws
   */
  async run<T>(
    call: IssuedCall,
    signal: AbortSignal,
    run: (toolCallId: string) => Promise<T>,
  ): Promise<T> {
    // The session refuses them, so no such call ever waits, and their digest could overflow the stack.
    if (depthOf(call.args, MAX_PLAIN_DEPTH) > MAX_PLAIN_DEPTH) return run(randomUUID());
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

/** In base64url, which contains no dot. */
function digestOf({ name, args }: IssuedCall): string {
  return createHash('sha256')
    .update(canonicalJson([name, args]))
    .digest('base64url');
}
