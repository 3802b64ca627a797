import type { HeldTool } from '@ethosagent/policy';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerConfig } from './config.js';
import { connectServer } from './connect-server.js';
import { messageOf, UNAUTHORIZED } from './connection-failure.js';
import type { ListedTool } from './listed-tool.js';
import { readServerTools } from './read-server-tools.js';
import { RefreshPause } from './refresh-pause.js';
import {
  type ConnectFailure,
  type ConnectOptions,
  rootsOf,
  type ServerSession,
} from './server-session.js';
import { pause } from './token-bucket.js';

/**
 * The state of a server. `idle`: it is started when it is needed. `waiting`: it ended, and is about
 * to be started again. `held`: it can't be started until somebody solves the problem.
 */
export type McpServerState = 'idle' | 'connecting' | 'ready' | 'waiting' | 'held' | 'closed';

/** A connection in use, or why there is none. */
export type OpenResult =
  | { ok: true; session: ServerSession }
  | { ok: false; reason: string; error?: unknown };

export interface ConnectionOptions extends ConnectOptions {
  /** Called with the list of a server, before the connection becomes ready. */
  onListed(connection: Connection): Promise<void>;
  /** Called before a connection is made. Returns why it may not be made, if so. */
  makeRoom(connection: Connection): string | undefined;
  onChange(connection: Connection): void;
}

const STABLE_MS = 60_000;
/** The delay before a held server is tried again, as a multiple of the first delay. */
const HELD_DELAYS = 10;
/** How many milliseconds pass before a new authorization may replace one that has begun. */
const AUTHORIZE_MS = 300_000;

/**
 * The connection to one server for one personality. Callers that need it at the same time share it.
 */
export class Connection {
  readonly server: McpServerConfig;
  readonly personality: string | undefined;
  /** All tools that the server lists, by name. Perhaps only some of them are offered. */
  listed: ReadonlyMap<string, ListedTool> = new Map();
  held: readonly HeldTool[] = [];
  /** The tools that may be called: the server lists them, and they are as they were pinned. */
  offered: ReadonlyMap<string, ListedTool> = new Map();
  hasResources = false;
  hasPrompts = false;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  #state: McpServerState = 'idle';
  #reason = '';
  /** The error of the last failure, for the host. */
  #error: unknown;
  #session: ServerSession | undefined;
  #opening: Promise<OpenResult> | undefined;
  #failures = 0;
  #readyAt = 0;
  #retryAt = 0;
  /**
   * The time from which on a call may start a waiting server, on the clock of `performance.now()`.
   */
  #startableAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #running = 0;
  #usedAt = 0;
  #authorizing = false;
  /** Whether the server was ready once, so that its tools are known. */
  #known = false;
  #roots = '';
  #refreshing: Promise<void> | undefined;
  #again = false;
  readonly #refreshPause = new RefreshPause();

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

  /** Why the server is not ready. */
  get reason(): string {
    return this.#reason;
  }

  /** What the sandbox has refused to the ready server, and how to allow it. */
  get refused(): string {
    return this.#session?.refused(true) ?? '';
  }

  /** The session in use, if there is one. */
  get session(): ServerSession | undefined {
    return this.#session;
  }

  /** Whether the connection is being made, or has a running call. */
  get busy(): boolean {
    return this.#running > 0 || this.#opening !== undefined;
  }

  /** Whether the connection counts for the limit of open connections. */
  get isAlive(): boolean {
    return this.#session !== undefined || this.#opening !== undefined;
  }

  /** When the last call on the connection began or ended, on the clock of `performance.now()`. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** Starts the server now, even when it waits or is held. */
  start(): Promise<OpenResult> {
    this.#retryAt = 0;
    this.#failures = 0;
    return this.open();
  }

  /**
   * Starts the server if it was not started yet, or if it was held for long enough. It does not
   * start a sleeping server, which a call starts, or a waiting one, which its timer starts.
   */
  async startIfDue(): Promise<void> {
    if (this.#opening === undefined) {
      if (this.#state === 'waiting' || this.#authorizing) return;
      if (this.#state === 'idle' && this.#known) return;
    }
    await this.open();
  }

  /** Closes the connection if no call runs on it. The next call opens it again. */
  sleep(reason: string): void {
    const session = this.#session;
    if (session === undefined || this.busy) return;
    clearTimeout(this.#idle);
    this.#session = undefined;
    this.#state = 'idle';
    this.#reason = reason;
    void session.close().catch(() => {});
    this.#options.onChange(this);
  }

  /** Returns the session. It connects when there is none. It never throws. */
  open(): Promise<OpenResult> {
    if (this.#state === 'closed') return Promise.resolve({ ok: false, reason: 'it was closed' });
    if (this.#session !== undefined) return Promise.resolve({ ok: true, session: this.#session });
    if (this.#opening !== undefined) return this.#opening;
    const waitMs = this.#retryAt - performance.now();
    if (waitMs > 0) {
      const next = `it is tried again in ${Math.ceil(waitMs / 1_000)} s at the earliest`;
      const reason = `${this.#reason}; ${next}`;
      return Promise.resolve({ ok: false, reason, error: this.#error });
    }
    this.#opening = this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /**
   * Does the same as `open`, for a call. When the server is about to be started again, the call
   * waits for that, and may start it earlier. Calls start a server at most once in the time of a
   * first restart.
   */
  async openForCall(): Promise<OpenResult> {
    if (this.#state !== 'waiting' || this.#opening !== undefined) return this.open();
    const startableAt = this.#startableAt;
    const waitMs = startableAt - performance.now();
    if (waitMs > 0) await pause(waitMs, this.#closing.signal);
    // The server was started during the wait and failed again. That was the one start of this call.
    if (this.#startableAt === startableAt) this.#retryAt = 0;
    return this.open();
  }

  /** Runs a call on the connection. The connection stays open during the call. */
  async use<T>(session: ServerSession, run: () => Promise<T>): Promise<T> {
    this.#running++;
    this.#usedAt = performance.now();
    clearTimeout(this.#idle);
    try {
      this.#tellRoots(session);
      return await run();
    } finally {
      this.#running--;
      this.#usedAt = performance.now();
      this.#sleepLater();
    }
  }

  /** Whether a session is the one in use. */
  isCurrent(session: ServerSession): boolean {
    return this.#session === session;
  }

  /** Call it when a session became useless: the server ended, or has forgotten the session. */
  lost(session: ServerSession, why: string): void {
    if (!this.#drop(session)) return;
    if (performance.now() - this.#readyAt > STABLE_MS) this.#failures = 0;
    this.#wait(why === '' ? 'it ended' : why);
    this.#options.onChange(this);
  }

  /** Call it when a session needs an authorization that the user was asked for. */
  unauthorized(session: ServerSession): void {
    if (!this.#drop(session)) return;
    this.#holdForUser(UNAUTHORIZED);
    this.#options.onChange(this);
  }

  #drop(session: ServerSession): boolean {
    if (this.#session !== session) return false;
    this.#session = undefined;
    void session.close().catch(() => {});
    return true;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#reason = 'it was closed';
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#idle);
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
    // A connection that is being opened closes itself.
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
      return this.#failed(connected);
    }
    const { session } = connected;
    let ended: string | undefined;
    session.client.onclose = () => {
      ended = session.why();
      this.lost(session, ended);
    };
    session.client.onerror = (error) => {
      // In the older transport, the stream is the session: when it ends, the session ends.
      if (error instanceof SseError) this.lost(session, 'the connection broke off');
    };
    session.scope.signal.addEventListener('abort', () =>
      this.lost(session, 'its service was ended'),
    );
    this.#again = false;
    this.#watchLists(session);
    try {
      await this.#list(session);
    } catch (error) {
      const reason = ended === undefined || ended === '' ? messageOf(error, session.redact) : ended;
      await session.close().catch(() => {});
      if (error instanceof UnauthorizedError) {
        return this.#failed({ reason: UNAUTHORIZED, again: false, authorize: true, error });
      }
      return this.#failed({ reason, again: true, error });
    }
    if (this.#hasClosed()) {
      await session.close().catch(() => {});
      return { ok: false, reason: 'it was closed' };
    }
    if (ended !== undefined) {
      await session.close().catch(() => {});
      return this.#failed({ reason: ended === '' ? 'it ended' : ended, again: true });
    }
    this.#session = session;
    this.#state = 'ready';
    this.#reason = '';
    this.#error = undefined;
    this.#known = true;
    this.#readyAt = performance.now();
    this.#usedAt = this.#readyAt;
    this.#roots = JSON.stringify(rootsOf(session.scope));
    this.#sleepLater();
    this.#options.onChange(this);
    if (this.#again) this.#refresh(session);
    return { ok: true, session };
  }

  #failed({ reason, again, authorize = false, error }: ConnectFailure): OpenResult {
    if (this.#hasClosed()) return { ok: false, reason: 'it was closed' };
    if (again) this.#wait(reason);
    else if (authorize) this.#holdForUser(reason);
    else this.#hold(reason, this.#options.limits.restartDelayMs * HELD_DELAYS);
    this.#error = error;
    this.#options.onChange(this);
    return { ok: false, reason: this.#reason, error };
  }

  // The state may have changed while the connection was opened.
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
    this.#startableAt = performance.now() + Math.min(restartDelayMs, delayMs);
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

  async #list(session: ServerSession): Promise<void> {
    const capabilities = session.client.getServerCapabilities();
    this.hasResources = capabilities?.resources !== undefined;
    this.hasPrompts = capabilities?.prompts !== undefined;
    const { connectTimeoutMs, maxTools } = this.#options.limits;
    const late = AbortSignal.timeout(connectTimeoutMs);
    const signal = AbortSignal.any([session.scope.signal, this.#closing.signal, late]);
    const options = { maxItems: maxTools, signal, timeoutMs: connectTimeoutMs };
    const { listed, held } = await readServerTools(session.client, this.server, options);
    this.listed = listed;
    this.held = held;
    await this.#options.onListed(this);
  }

  #watchLists(session: ServerSession): void {
    // Resources and prompts are listed again at each request, so only tools are refreshed.
    const refresh = () => this.#refresh(session);
    session.client.setNotificationHandler(ToolListChangedNotificationSchema, refresh);
  }

  // However many notifications come, one listing runs, and one more when it is done.
  #refresh(session: ServerSession): void {
    if (this.#refreshing !== undefined || this.#session !== session) {
      this.#again = true;
      return;
    }
    const run = async () => {
      do {
        this.#again = false;
        if (this.#session !== session) return;
        try {
          await this.#list(session);
          this.#options.onChange(this);
        } catch (error) {
          if (error instanceof UnauthorizedError) this.unauthorized(session);
          else this.lost(session, messageOf(error, session.redact));
        }
        await pause(this.#refreshPause.nextMs(), session.scope.signal);
      } while (this.#again);
    };
    this.#refreshing = run().finally(() => {
      this.#refreshing = undefined;
      // Another session may have begun during the pause.
      const now = this.#session;
      if (this.#again && now !== undefined && now !== session) this.#refresh(now);
    });
  }

  #tellRoots(session: ServerSession): void {
    const roots = JSON.stringify(rootsOf(session.scope));
    if (roots === this.#roots) return;
    this.#roots = roots;
    session.client.sendRootsListChanged().catch(() => {});
  }

  #sleepLater(): void {
    clearTimeout(this.#idle);
    if (this.#running > 0 || this.#session === undefined) return;
    this.#idle = setTimeout(() => this.sleep(''), this.#options.limits.idleMs);
    this.#idle.unref();
  }
}
