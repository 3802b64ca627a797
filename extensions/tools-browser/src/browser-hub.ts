import { Turns } from '@ethosagent/policy';
import { EthosError, type NetworkPolicy, type ScopedServices } from '@ethosagent/types';
import { BrowserSession } from './browser-session.js';
import type { BrowserSettings } from './browser-settings.js';
import { RefNames } from './ref-names.js';
import { startChromium } from './start-chromium.js';

/** The owner of a browser, and the policy of its pages. */
export interface BrowserOwner {
  sessionId: string;
  personalityId?: string | undefined;
  networkPolicy?: NetworkPolicy | undefined;
}

const MAX_SESSIONS_KNOWN = 1_000;
const CHANGED = 'It was closed because what it may reach has changed.';

/** The browsers that run: one for each session and personality. */
export class BrowserHub {
  readonly #sessions = new Map<string, BrowserSession>();
  readonly #starting = new Map<string, Promise<BrowserSession>>();
  readonly #turns = new Turns();
  /** Why the browser of a session has ended. It is kept until it was reported once. */
  readonly #reasons = new Map<string, string>();
  /** The refs of a session. They stay unique when the session gets another browser. */
  readonly #names = new Map<string, RefNames>();

  /**
   * Runs calls of one session and personality one after another, in the order of asking.
   *
   * @throws the reason of `signal` when it fires before the turn has come
   */
  inTurn<T>(owner: BrowserOwner, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(keyOf(owner), work, signal);
  }

  /**
   * The running browser of a session, or the one that an earlier call began to start. A browser with
   * another policy than the call is closed first.
   */
  async running(owner: BrowserOwner): Promise<BrowserSession | undefined> {
    const key = keyOf(owner);
    const starting = this.#starting.get(key)?.catch(() => undefined);
    const session = this.#sessions.get(key) ?? (await starting);
    if (session === undefined || session.isFor(owner)) return session;
    await this.close(owner, CHANGED);
    return undefined;
  }

  /** Why there is no browser. It is reported once. */
  takeReason(owner: BrowserOwner): string | undefined {
    const key = keyOf(owner);
    const reason = this.#reasons.get(key);
    this.#reasons.delete(key);
    return reason;
  }

  /**
   * Starts the browser of a session that has none.
   *
   * @returns `undefined` when as many run as may
   * @throws what opening a service and starting a process throws; `CALL_ENDED` when the service
   * ends meanwhile
   */
  async open(
    owner: BrowserOwner,
    services: ScopedServices,
    settings: BrowserSettings,
  ): Promise<BrowserSession | undefined> {
    if (this.#sessions.size + this.#starting.size >= settings.max_sessions) return undefined;
    const key = keyOf(owner);
    const starting = this.#start(owner, services, settings);
    this.#starting.set(key, starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(key);
    }
  }

  /** Tells that a session used its browser. */
  touch(owner: BrowserOwner, settings: BrowserSettings): void {
    const key = keyOf(owner);
    this.#sessions.get(key)?.touch(settings, () => {
      if (this.#turns.isBusy(key)) return;
      void this.close(owner, 'It was closed because it had not been used for a while.');
    });
  }

  /** Closes the browser of a session, also one that is being started; says whether there was one. */
  async close(owner: BrowserOwner, reason?: string): Promise<boolean> {
    const key = keyOf(owner);
    await this.#starting.get(key)?.catch(() => {});
    const session = this.#sessions.get(key);
    if (session === undefined) return false;
    this.#forget(key, session, reason);
    await session.close();
    return true;
  }

  async #start(
    owner: BrowserOwner,
    services: ScopedServices,
    settings: BrowserSettings,
  ): Promise<BrowserSession> {
    const key = keyOf(owner);
    const scope = await services.open();
    let isEnding = false;
    scope.onEnd(() => {
      isEnding = true;
    });
    try {
      const chromium = await startChromium(scope, settings);
      if (chromium.gone.aborted) throw new EthosError('SPAWN_FAILED', 'it ended at once');
      const session = new BrowserSession(scope, chromium, this.#namesOf(key));
      this.#sessions.set(key, session);
      session.gone.addEventListener(
        'abort',
        () => {
          const why = isEnding ? undefined : 'The browser crashed, or was ended from outside.';
          this.#forget(key, session, why);
          session.close().catch(() => {});
        },
        { once: true },
      );
      const onEnd = () => this.#reasonOf(key, scope.signal.reason);
      scope.signal.addEventListener('abort', onEnd, { once: true });
      // When the call that started the browser has gone, nobody uses it, so it is closed.
      this.touch(owner, settings);
      return session;
    } catch (error) {
      const hasEnded = isEnding;
      await scope.end();
      if (!hasEnded) throw error;
      throw new EthosError('CALL_ENDED', endOf(scope.signal.reason), { cause: error });
    }
  }

  #namesOf(key: string): RefNames {
    const names = this.#names.get(key) ?? new RefNames();
    this.#names.delete(key);
    this.#names.set(key, names);
    dropOldest(this.#names);
    return names;
  }

  /** Remembers that the host ended the browser, unless the session has ended, too. */
  #reasonOf(key: string, reason: unknown): void {
    const why = endOf(reason);
    if (why.includes('personality')) this.#remember(key, `It was closed because ${why}.`);
    if (why.includes('session')) this.#reasons.delete(key);
  }

  #forget(key: string, session: BrowserSession, reason?: string): void {
    if (this.#sessions.get(key) !== session) return;
    this.#sessions.delete(key);
    if (reason !== undefined) this.#remember(key, reason);
  }

  #remember(key: string, reason: string): void {
    this.#reasons.delete(key);
    this.#reasons.set(key, reason);
    dropOldest(this.#reasons);
  }
}

function endOf(reason: unknown): string {
  return reason instanceof Error
    ? reason.message.replace(/^[A-Z_]+: /, '')
    : 'the service has ended';
}

function keyOf({ sessionId, personalityId }: BrowserOwner): string {
  return JSON.stringify([sessionId, personalityId ?? null]);
}

function dropOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > MAX_SESSIONS_KNOWN && oldest !== undefined) map.delete(oldest);
}
