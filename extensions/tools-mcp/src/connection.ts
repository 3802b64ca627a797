import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerConfig } from './config.js';
import {
  connectServer,
  type Link,
  type LinkOptions,
  messageOf,
  rootsOf,
  UNAUTHORIZED,
} from './link.js';
import { listAll } from './list-all.js';
import { type HeldTool, type ListedTool, readListedTool } from './listed-tool.js';

/**
 * How a server stands. `waiting`: it ended, and is started again; `held`: it can't be started until
 * something is done about it; `idle`: it is started when it is needed.
 */
export type McpServerState = 'idle' | 'connecting' | 'ready' | 'waiting' | 'held' | 'closed';

/** A connection in use, or why there is none. */
export type OpenResult = { ok: true; link: Link } | { ok: false; reason: string };

export interface ConnectionOptions extends LinkOptions {
  /** Told of what a server lists, before anyone is told that it is ready. */
  onListed(connection: Connection): Promise<void>;
  /** Asked before a connection is made; says why it may not be. */
  makeRoom(connection: Connection): string | undefined;
  onChange(connection: Connection): void;
}

const STABLE_MS = 60_000;
/** Of a server that is held back, in delays of a first restart. */
const HELD_DELAYS = 10;
/** An authorization that was begun is not undone by beginning another one soon. */
const AUTHORIZE_MS = 300_000;
const REFRESH_MS = 200;

/** One server for one personality: connected when needed, by all who need it at once. */
export class Connection {
  readonly server: McpServerConfig;
  readonly personality: string | undefined;
  /** What the server lists, by name; what of it is offered is another matter. */
  listed: ReadonlyMap<string, ListedTool> = new Map();
  held: readonly HeldTool[] = [];
  /** Tools that may be called: listed, and what they were pinned as. */
  offered: ReadonlyMap<string, ListedTool> = new Map();
  hasResources = false;
  hasPrompts = false;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  #state: McpServerState = 'idle';
  #reason = '';
  #link: Link | undefined;
  #opening: Promise<OpenResult> | undefined;
  #failures = 0;
  #readyAt = 0;
  #retryAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #running = 0;
  #usedAt = 0;
  #authorizing = false;
  /** Whether it was ready once, so that what it offers is known. */
  #known = false;
  #roots = '';
  #refreshing: Promise<void> | undefined;
  #again = false;

  constructor(
    server: McpServerConfig,
    personality: string | undefined,
    options: ConnectionOptions,
  ) {
    this.server = server;
    this.personality = personality;
    this.#options = options;
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Why it is not ready. */
  get reason(): string {
    return this.#reason;
  }

  /** Whether it is being made, or a call runs on it. */
  get busy(): boolean {
    return this.#running > 0 || this.#opening !== undefined;
  }

  /** Whether it takes up the place of one. */
  get isAlive(): boolean {
    return this.#link !== undefined || this.#opening !== undefined;
  }

  /** When a call last began or ended on it, on the clock of `performance.now()`. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** Starts the server now, also one that waits or is held. */
  start(): Promise<OpenResult> {
    this.#retryAt = 0;
    this.#failures = 0;
    return this.open();
  }

  /**
   * Starts the server if it is time: one that was not started yet, or is held back and was so for
   * long enough. One that sleeps is left to calls, one that waits to its timer.
   */
  async startIfDue(): Promise<void> {
    if (this.#opening === undefined) {
      if (this.#state === 'waiting' || this.#authorizing) return;
      if (this.#state === 'idle' && this.#known) return;
    }
    await this.open();
  }

  /** Closes a connection that no call is on; the next call opens it again. */
  sleep(reason: string): void {
    const link = this.#link;
    if (link === undefined || this.busy) return;
    clearTimeout(this.#idle);
    this.#link = undefined;
    this.#state = 'idle';
    this.#reason = reason;
    void link.close().catch(() => {});
    this.#options.onChange(this);
  }

  /** The connection, made where there is none. Never throws. */
  open(): Promise<OpenResult> {
    if (this.#state === 'closed') return Promise.resolve({ ok: false, reason: 'it was closed' });
    if (this.#link !== undefined) return Promise.resolve({ ok: true, link: this.#link });
    if (this.#opening !== undefined) return this.#opening;
    const waitMs = this.#retryAt - performance.now();
    if (waitMs > 0) {
      const next = `it is tried again in ${Math.ceil(waitMs / 1_000)} s at the earliest`;
      return Promise.resolve({ ok: false, reason: `${this.#reason}; ${next}` });
    }
    this.#opening = this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Runs a call on the connection, which stays open meanwhile. */
  async use<T>(link: Link, run: () => Promise<T>): Promise<T> {
    this.#running++;
    this.#usedAt = performance.now();
    clearTimeout(this.#idle);
    try {
      this.#tellRoots(link);
      return await run();
    } finally {
      this.#running--;
      this.#usedAt = performance.now();
      this.#sleepLater();
    }
  }

  /** Whether a link is the one that is in use now. */
  isCurrent(link: Link): boolean {
    return this.#link === link;
  }

  /** The link is of no use any more: the server ended, or has forgotten the session. */
  lost(link: Link, why: string): void {
    if (!this.#drop(link)) return;
    if (performance.now() - this.#readyAt > STABLE_MS) this.#failures = 0;
    this.#wait(why === '' ? 'it ended' : why);
    this.#options.onChange(this);
  }

  /** The link is of no use until the user, who was asked, has authorized it. */
  unauthorized(link: Link): void {
    if (!this.#drop(link)) return;
    this.#holdForUser(UNAUTHORIZED);
    this.#options.onChange(this);
  }

  #drop(link: Link): boolean {
    if (this.#link !== link) return false;
    this.#link = undefined;
    void link.close().catch(() => {});
    return true;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#reason = 'it was closed';
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#idle);
    const link = this.#link;
    this.#link = undefined;
    await link?.close();
    // One that is being made closes itself.
    await this.#opening;
  }

  async #connect(): Promise<OpenResult> {
    clearTimeout(this.#timer);
    const full = this.#options.makeRoom(this);
    if (full !== undefined) {
      this.#hold(full, this.#options.limits.restartDelayMs);
      this.#options.onChange(this);
      return { ok: false, reason: full };
    }
    this.#state = 'connecting';
    this.#authorizing = false;
    const connected = await connectServer(this.server, this.personality, {
      ...this.#options,
      closing: this.#closing.signal,
    });
    if (!connected.ok) {
      const { reason, again, authorize = false } = connected;
      return this.#failed(reason, again, authorize);
    }
    const { link } = connected;
    let ended: string | undefined;
    link.client.onclose = () => {
      ended = link.why();
      this.lost(link, ended);
    };
    link.client.onerror = (error) => {
      // The stream of the older transport is the session.
      if (error instanceof SseError) this.lost(link, 'the connection broke off');
    };
    link.scope.signal.addEventListener('abort', () => this.lost(link, 'its service was ended'));
    this.#again = false;
    this.#watchLists(link);
    try {
      await this.#list(link);
    } catch (error) {
      const reason = ended === undefined || ended === '' ? messageOf(error, link.redact) : ended;
      await link.close().catch(() => {});
      if (error instanceof UnauthorizedError) return this.#failed(UNAUTHORIZED, false, true);
      return this.#failed(reason, true);
    }
    if (this.#hasClosed()) {
      await link.close().catch(() => {});
      return { ok: false, reason: 'it was closed' };
    }
    if (ended !== undefined) return this.#failed(ended === '' ? 'it ended' : ended, true);
    this.#link = link;
    this.#state = 'ready';
    this.#reason = '';
    this.#known = true;
    this.#readyAt = performance.now();
    this.#usedAt = this.#readyAt;
    this.#roots = JSON.stringify(rootsOf(link.scope));
    this.#sleepLater();
    this.#options.onChange(this);
    if (this.#again) this.#refresh(link);
    return { ok: true, link };
  }

  #failed(reason: string, again: boolean, authorize = false): OpenResult {
    if (this.#hasClosed()) return { ok: false, reason: 'it was closed' };
    if (again) this.#wait(reason);
    else if (authorize) this.#holdForUser(reason);
    else this.#hold(reason, this.#options.limits.restartDelayMs * HELD_DELAYS);
    this.#options.onChange(this);
    return { ok: false, reason: this.#reason };
  }

  // The state changes while a connection is made.
  #hasClosed(): boolean {
    return this.state === 'closed';
  }

  #wait(reason: string): void {
    if (this.#hasClosed()) return;
    const { restartDelayMs, maxRestartDelayMs, maxRestarts } = this.#options.limits;
    this.#failures++;
    const delayMs = Math.min(restartDelayMs * 2 ** (this.#failures - 1), maxRestartDelayMs);
    if (this.#failures > maxRestarts) {
      this.#hold(`${reason}, ${this.#failures} times in a row`, delayMs);
      return;
    }
    this.#state = 'waiting';
    this.#reason = reason;
    this.#retryAt = performance.now() + delayMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#retryAt = 0;
      void this.open();
    }, delayMs);
    this.#timer.unref();
  }

  #holdForUser(reason: string): void {
    if (this.#hasClosed()) return;
    this.#authorizing = true;
    this.#hold(reason, AUTHORIZE_MS);
  }

  #hold(reason: string, forMs: number): void {
    this.#state = 'held';
    this.#reason = reason;
    this.#retryAt = performance.now() + forMs;
  }

  async #list(link: Link): Promise<void> {
    const { client } = link;
    const capabilities = client.getServerCapabilities() ?? {};
    this.hasResources = capabilities.resources !== undefined;
    this.hasPrompts = capabilities.prompts !== undefined;
    const { connectTimeoutMs, maxTools } = this.#options.limits;
    const late = AbortSignal.timeout(connectTimeoutMs);
    const signal = AbortSignal.any([link.scope.signal, this.#closing.signal, late]);
    const { items, cut } =
      capabilities.tools === undefined
        ? { items: [], cut: false }
        : await listAll(client, 'tools/list', {
            maxItems: maxTools,
            signal,
            timeoutMs: connectTimeoutMs,
          });
    const listed = new Map<string, ListedTool>();
    const held: HeldTool[] = [];
    for (const item of items) {
      const tool = readListedTool(item);
      if ('reason' in tool) held.push(tool);
      else if (listed.has(tool.definition.name)) {
        held.push({ tool: tool.definition.name, reason: 'is listed more than once' });
      } else listed.set(tool.definition.name, tool);
    }
    if (cut) held.push({ tool: '', reason: `there are more than the first ${items.length} tools` });
    this.listed = listed;
    this.held = held;
    await this.#options.onListed(this);
  }

  #watchLists(link: Link): void {
    // Resources and prompts are listed anew whenever they are asked for.
    const refresh = () => this.#refresh(link);
    link.client.setNotificationHandler(ToolListChangedNotificationSchema, refresh);
  }

  // However many notifications come, one listing runs, and one more when it is done.
  #refresh(link: Link): void {
    if (this.#refreshing !== undefined || this.#link !== link) {
      this.#again = true;
      return;
    }
    const run = async () => {
      do {
        this.#again = false;
        if (this.#link !== link) return;
        try {
          await this.#list(link);
          this.#options.onChange(this);
        } catch (error) {
          if (error instanceof UnauthorizedError) this.unauthorized(link);
          else this.lost(link, messageOf(error, link.redact));
        }
        await new Promise((resolve) => setTimeout(resolve, REFRESH_MS).unref());
      } while (this.#again);
    };
    this.#refreshing = run().finally(() => {
      this.#refreshing = undefined;
    });
  }

  #tellRoots(link: Link): void {
    const roots = JSON.stringify(rootsOf(link.scope));
    if (roots === this.#roots) return;
    this.#roots = roots;
    link.client.sendRootsListChanged().catch(() => {});
  }

  #sleepLater(): void {
    clearTimeout(this.#idle);
    if (this.#running > 0 || this.#link === undefined) return;
    this.#idle = setTimeout(() => this.sleep(''), this.#options.limits.idleMs);
    this.#idle.unref();
  }
}
