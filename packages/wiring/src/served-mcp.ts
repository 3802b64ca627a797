import { mcpServerOf } from '@ethosagent/policy';
import type { PersonalityConfig } from '@ethosagent/types';
import type { RuntimeMcp } from './mcp.js';

/** After this many milliseconds, only the tools of the servers that have started count. */
const MAX_WAIT_MS = 10_000;

type Bridge = Pick<RuntimeMcp, 'start' | 'stop' | 'status'>;

interface Served {
  config: PersonalityConfig;
  /** Resolves when the earlier servers have ended and the new ones are starting. */
  begun: Promise<void>;
  starting: Promise<unknown> | undefined;
  /** Resolves when all servers have started, or after the time limit. */
  ready: Promise<unknown>;
}

export interface ServedMcpOptions {
  /**
   * Whether servers that were started for a config can also serve a newer one of the same
   * personality.
   */
  servesToo: (before: PersonalityConfig, now: PersonalityConfig) => boolean;
  maxWaitMs?: number;
}

/** The MCP servers of each personality, according to its config. */
export class ServedMcp {
  readonly #mcp: Bridge;
  readonly #maxWaitMs: number;
  readonly #servesToo: ServedMcpOptions['servesToo'];
  readonly #served = new Map<string, Served>();

  constructor(mcp: Bridge, { servesToo, maxWaitMs = MAX_WAIT_MS }: ServedMcpOptions) {
    this.#mcp = mcp;
    this.#servesToo = servesToo;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves when the servers of a personality have started, as far as they can in time. A later
   * server adds its tools when it has started. Callers at the same time wait for the same start.
   */
  async ready(config: PersonalityConfig): Promise<void> {
    const known = this.#served.get(config.id);
    if (known === undefined || !this.#servesToo(known.config, config)) {
      await this.#serve(config, known).ready;
      return;
    }
    await known.ready;
    // Servers that could not start may be able to now: a secret was added, or some time has passed.
    this.#mcp.start(config.id, config.mcp_servers, { waitMs: 0 }).catch(() => {});
  }

  /** Returns the names of a personality's servers in the form that names of tools use. */
  namesOf(servers: readonly string[]): string[] {
    const parts = this.#mcp.status().flatMap(({ server, tools: [tool = ''] }) => {
      const part = mcpServerOf(tool);
      return part !== undefined && servers.includes(server) ? [part] : [];
    });
    return [...new Set([...servers, ...parts])];
  }

  #serve(config: PersonalityConfig, before: Served | undefined): Served {
    const { id, mcp_servers } = config;
    const begin = async () => {
      // One after another: a start that is not awaited before a stop would continue after it.
      await before?.begun.catch(() => {});
      if (before?.starting !== undefined) await this.#mcp.stop(id);
      if (this.#served.get(id) !== served) return;
      served.starting = this.#mcp.start(id, mcp_servers);
      // The callers get the error. There may be none left.
      served.starting.catch(() => {});
    };
    const served: Served = {
      config,
      begun: Promise.resolve().then(begin),
      starting: undefined,
      ready: Promise.resolve(),
    };
    served.ready = this.#inTime(served.begun.then(() => served.starting));
    served.ready.catch(() => {
      // The next caller tries again.
      if (this.#served.get(id) === served) this.#served.delete(id);
    });
    this.#served.set(id, served);
    return served;
  }

  async #inTime(started: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#maxWaitMs);
    });
    try {
      await Promise.race([started, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
