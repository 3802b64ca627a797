import { mcpServerOf } from '@ethosagent/policy';
import type { PersonalityConfig } from '@ethosagent/types';
import type { RuntimeMcp } from './mcp.js';

/** Milliseconds after which the tools of those servers count that are there by then. */
const MAX_WAIT_MS = 10_000;

type Bridge = Pick<RuntimeMcp, 'start' | 'stop' | 'status'>;

interface Served {
  config: PersonalityConfig;
  /** Those of before have ended by then, and these are being started. */
  begun: Promise<void>;
  starting: Promise<unknown> | undefined;
  /** All servers are there, or it took too long. */
  ready: Promise<unknown>;
}

export interface ServedMcpOptions {
  /** Whether servers that were started for a config serve a newer one of the same personality. */
  servesToo: (before: PersonalityConfig, now: PersonalityConfig) => boolean;
  maxWaitMs?: number;
}

/** The MCP servers of each personality, as its config says. */
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
   * Resolves once the servers of a personality are there, as far as they can be in time; those that
   * come later bring their tools when they do. Who asks meanwhile waits for the same start.
   */
  async ready(config: PersonalityConfig): Promise<void> {
    const known = this.#served.get(config.id);
    if (known === undefined || !this.#servesToo(known.config, config)) {
      await this.#serve(config, known).ready;
      return;
    }
    await known.ready;
    // Those that were held back may be tried again now: a secret is there, some time is over.
    this.#mcp.start(config.id, config.mcp_servers, { waitMs: 0 }).catch(() => {});
  }

  /** The servers that a personality names, as they stand in the names of their tools. */
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
      // One after the other: a start that a later stop does not wait for would go on after it.
      await before?.begun.catch(() => {});
      if (before?.starting !== undefined) await this.#mcp.stop(id);
      if (this.#served.get(id) !== served) return;
      served.starting = this.#mcp.start(id, mcp_servers);
      // Whoever waits is told; nobody may be there any more.
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
      // The next one who asks tries again.
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
