import { discard } from '@ethosagent/policy';
import type { McpHttpLimits } from './http-limits.js';
import type { HttpSession } from './http-session.js';

/** The sessions of all clients. A client finds only its own. */
export class HttpSessions {
  readonly #limits: Pick<McpHttpLimits, 'maxSessions' | 'maxSessionsPerClient'>;
  readonly #all = new Set<HttpSession>();
  readonly #byId = new Map<string, HttpSession>();

  constructor(limits: Pick<McpHttpLimits, 'maxSessions' | 'maxSessionsPerClient'>) {
    this.#limits = limits;
  }

  find(id: string, client: string): HttpSession | undefined {
    const session = this.#byId.get(id);
    return session?.client === client ? session : undefined;
  }

  /** Makes room for another session of a client. Returns whether there is any. */
  makeRoom(client: string): boolean {
    const { maxSessions, maxSessionsPerClient } = this.#limits;
    const own = [...this.#all].filter((session) => session.client === client);
    if (own.length < maxSessionsPerClient && this.#all.size < maxSessions) return true;
    const [oldest] = own
      .filter(({ isConnected }) => !isConnected)
      .sort((a, b) => a.unusedSince - b.unusedSince);
    if (oldest === undefined) return false;
    this.#remove(oldest);
    discard(oldest.close());
    return true;
  }

  add(session: HttpSession): void {
    this.#all.add(session);
    const remove = () => this.#remove(session);
    session.connection.ended.then(remove, remove);
  }

  name(id: string, session: HttpSession): void {
    if (this.#all.has(session)) this.#byId.set(id, session);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#all].map((session) => session.close()));
  }

  #remove(session: HttpSession): void {
    this.#all.delete(session);
    if (session.id !== undefined) this.#byId.delete(session.id);
  }
}
