import { type McpToolDefinition, parseJson, Turns } from '@ethosagent/policy';
import { EthosError, type KeyValueStore } from '@ethosagent/types';
import { z } from 'zod';
import type { ListedTool } from './listed-tool.js';
import { mcpServerPart, mcpToolName, mcpToolPrefix } from './names.js';

/** Stores the pins: a key-value store, or a part of one. */
export type McpPinStore = Pick<KeyValueStore, 'get' | 'set' | 'delete'>;

/**
 * A tool or a server that changed after it was pinned, or a tool that its server added later. It is
 * held back until somebody accepts it.
 */
export interface McpPendingChange {
  server: string;
  /**
   * The server's own name for the tool. Empty for the server itself: `description` says how it is
   * reached.
   */
  tool: string;
  /** The definition at first use, or when it was last accepted. Absent for a tool that was added. */
  old?: McpToolDefinition;
  new: McpToolDefinition;
  /** The SHA-256 of the new definition, to pass to `accept`. */
  hash: string;
}

const pinSchema = z.object({
  hash: z.string(),
  definition: z.object({
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    annotations: z.record(z.string(), z.unknown()),
  }),
});
type Pin = z.infer<typeof pinSchema>;

/**
 * Keeps the definitions that tools of servers had at first use. They are the same for all
 * personalities.
 */
export class Pins {
  readonly #store: McpPinStore;
  readonly #pending = new Map<string, McpPendingChange>();
  /**
   * Pins are written one at a time: two connections may see a new tool together, and only one pins
   * it.
   */
  readonly #turns = new Turns();

  constructor(store: McpPinStore = memoryStore()) {
    this.#store = store;
  }

  /**
   * Pins how a server is reached, if it is new.
   *
   * @returns whether the server is as it was pinned; true for a new one
   * @throws `STORE_CORRUPT` when the pin can't be read; `STORE_UNAVAILABLE`, and other errors of
   *   the store
   */
  check(server: string, listed: ListedTool): Promise<boolean> {
    return this.#inTurn(() => this.#isAsPinned(server, listed, true));
  }

  /**
   * Pins the tools of the first list of a server. What it adds later waits to be accepted: it would
   * reach a model unseen, and a server that goes on adding names would fill the store.
   *
   * @param listed the tools that the server lists, by name
   * @param isListed whether a connection of the server lists a tool
   * @returns the tools that are as they were pinned
   * @throws as `check` does
   */
  offer(
    server: string,
    listed: ReadonlyMap<string, ListedTool>,
    isListed: (tool: string) => boolean,
  ): Promise<Map<string, ListedTool>> {
    return this.#inTurn(async () => {
      for (const [key, { server: of, tool, old }] of this.#pending) {
        if (of === server && old === undefined && !isListed(tool)) this.#pending.delete(key);
      }
      const isFirst = (await this.#store.get(firstListKey(server))) === null;
      const offered = new Map<string, ListedTool>();
      for (const [tool, each] of listed) {
        if (await this.#isAsPinned(server, each, isFirst)) offered.set(tool, each);
      }
      // A server that lists nothing yet may need a login first.
      if (isFirst && listed.size > 0) await this.#store.set(firstListKey(server), 'pinned');
      return offered;
    });
  }

  /** Returns why a listed tool of a server is not offered; `undefined` when it is. */
  waiting(server: string, tool: string): 'added' | 'changed' | undefined {
    const change = this.#pending.get(keyOf(server, tool));
    if (change === undefined) return undefined;
    return change.old === undefined ? 'added' : 'changed';
  }

  pending(): McpPendingChange[] {
    return [...this.#pending.values()];
  }

  /** Pins what waits of a server as it is now. @returns the names of these tools */
  accept(server: string, tool?: string, hash?: string): Promise<string[]> {
    return this.#inTurn(async () => {
      const accepted: string[] = [];
      for (const [key, change] of this.#pending) {
        if (change.server !== server) continue;
        if (tool !== undefined && change.tool !== tool) continue;
        if (hash !== undefined && change.hash !== hash) continue;
        await this.#write(key, { hash: change.hash, definition: change.new });
        // What it lists next is the first list of another server.
        if (change.tool === '') await this.#store.delete(firstListKey(server));
        this.#pending.delete(key);
        accepted.push(change.tool);
      }
      return accepted;
    });
  }

  async #isAsPinned(
    server: string,
    { definition, hash }: ListedTool,
    pinsNew: boolean,
  ): Promise<boolean> {
    const key = keyOf(server, definition.name);
    const pin = await this.#read(key);
    if (pin === undefined && pinsNew) await this.#write(key, { hash, definition });
    if (pin === undefined ? pinsNew : pin.hash === hash) {
      this.#pending.delete(key);
      return true;
    }
    this.#pending.set(key, {
      server,
      tool: definition.name,
      ...(pin !== undefined && { old: pin.definition }),
      new: definition,
      hash,
    });
    return false;
  }

  #read(key: string): Promise<Pin | undefined> {
    return readPin(this.#store, key);
  }

  #write(key: string, pin: Pin): Promise<void> {
    return this.#store.set(key, JSON.stringify(pin));
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#turns.run('pins', run);
  }
}

/**
 * Returns the tools of a server as they were accepted.
 *
 * @throws `STORE_CORRUPT` when a pin can't be read
 */
export async function pinnedTools(
  store: Pick<KeyValueStore, 'get' | 'list'>,
  server: string,
): Promise<ListedTool[]> {
  const found: ListedTool[] = [];
  for (const key of (await store.list(`pin:${mcpToolPrefix(server)}`)).sort()) {
    const pin = await readPin(store, key);
    if (pin !== undefined && keyOf(server, pin.definition.name) === key) found.push(pin);
  }
  return found;
}

/** Whether a server is as it was accepted. @throws `STORE_CORRUPT` when its pin can't be read */
export async function isPinnedAs(
  store: Pick<KeyValueStore, 'get'>,
  server: string,
  hash: string,
): Promise<boolean> {
  return (await readPin(store, keyOf(server, '')))?.hash === hash;
}

async function readPin(store: Pick<KeyValueStore, 'get'>, key: string): Promise<Pin | undefined> {
  const text = await store.get(key);
  if (text === null) return undefined;
  const parsed = pinSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  // An unreadable pin must not count as a first use: that would accept a changed tool.
  throw new EthosError('STORE_CORRUPT', `the pin ${key} can not be read; delete it to pin anew`);
}

/** Where it stands that the first list of a server was pinned. */
function firstListKey(server: string): string {
  return `tools:${mcpServerPart(server)}`;
}

function keyOf(server: string, tool: string): string {
  // No tool of a server has an empty name.
  if (tool === '') return `server:${mcpServerPart(server)}`;
  return `pin:${mcpToolName(server, tool)}`;
}

function memoryStore(): McpPinStore {
  const pins = new Map<string, string>();
  return {
    get: async (key) => pins.get(key) ?? null,
    set: async (key, value) => {
      pins.set(key, value);
    },
    delete: async (key) => {
      pins.delete(key);
    },
  };
}
