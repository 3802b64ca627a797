import type { McpServerConfig } from './config.js';
import { Connection, type ConnectionOptions } from './connection.js';

export interface ConnectionTableOptions extends Omit<ConnectionOptions, 'makeRoom'> {
  /** Called for a connection that was closed and removed from the table. */
  onForgotten(connection: Connection): void;
}

/** Holds the connections of a bridge: one for each server and personality, up to the limit. */
export class ConnectionTable {
  readonly #options: ConnectionTableOptions;
  readonly #byKey = new Map<string, Connection>();
  /** The connections that were started on request. Calls made the others. */
  readonly #kept = new WeakSet<Connection>();

  constructor(options: ConnectionTableOptions) {
    this.#options = options;
  }

  all(): Connection[] {
    return [...this.#byKey.values()];
  }

  get(part: string, personality: string | undefined): Connection | undefined {
    return this.#byKey.get(keyOf(part, personality));
  }

  /** Returns the connection of a server for a personality. It makes one when there is none. */
  open(part: string, server: McpServerConfig, personality: string | undefined): Connection {
    const key = keyOf(part, personality);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    this.#forgetOne();
    const made = new Connection(server, personality, {
      ...this.#options,
      makeRoom: (connection) => this.#makeRoom(connection),
      onChange: (connection) => {
        if (this.#byKey.get(key) !== connection) return;
        // Nobody would stop the connection of a sub-agent that has ended.
        if (connection.state === 'idle' && isMet(personality)) this.#close(key, connection);
        this.#options.onChange(connection);
      },
    });
    this.#byKey.set(key, made);
    return made;
  }

  /**
   * Marks a connection as started on request. It then stays in the table; those of calls come and
   * go.
   */
  keep(connection: Connection): void {
    this.#kept.add(connection);
  }

  /** Removes connections from the table, and returns them. The caller closes them. */
  take(isTaken: (connection: Connection) => boolean): Connection[] {
    const taken = [...this.#byKey].filter(([, connection]) => isTaken(connection));
    for (const [key] of taken) this.#byKey.delete(key);
    return taken.map(([, connection]) => connection);
  }

  // Those that only calls have made, and those of sub-agents, come and go.
  #isSpare(connection: Connection): boolean {
    return isMet(connection.personality) || !this.#kept.has(connection);
  }

  #forgetOne(): void {
    if (this.#byKey.size < this.#options.limits.maxConnections) return;
    for (const [key, connection] of this.#byKey) {
      if (connection.busy || !this.#isSpare(connection)) continue;
      this.#forget(key, connection);
      return;
    }
  }

  #forget(key: string, connection: Connection): void {
    this.#close(key, connection);
    this.#options.onForgotten(connection);
  }

  #close(key: string, connection: Connection): void {
    this.#byKey.delete(key);
    void connection.close().catch(() => {});
  }

  /**
   * Makes room for one more connection by closing the least recently used one.
   *
   * @returns why it can't
   */
  #makeRoom(wanting: Connection): string | undefined {
    const { maxConnections } = this.#options.limits;
    const alive = [...this.#byKey].filter(([, one]) => one !== wanting && one.isAlive);
    if (alive.length < maxConnections) return undefined;
    const [victim] = alive
      .filter(([, one]) => !one.busy)
      .sort(
        ([, a], [, b]) =>
          Number(this.#isSpare(b)) - Number(this.#isSpare(a)) || a.usedAt - b.usedAt,
      );
    if (victim === undefined) {
      return `${maxConnections} connections are in use, and no more may be`;
    }
    const [key, connection] = victim;
    if (this.#isSpare(connection)) this.#forget(key, connection);
    else connection.sleep('it was closed to make room for another; the next call opens it again');
    return undefined;
  }
}

function keyOf(part: string, personality: string | undefined): string {
  return JSON.stringify([part, personality ?? null]);
}

/** Whether a personality is the meet of several, like that of a sub-agent. */
function isMet(personality: string | undefined): boolean {
  return personality?.includes('/') === true;
}
