import { Turns } from '@ethosagent/policy';
import { EthosError, type NetworkPolicy, type ScopedServices } from '@ethosagent/types';
import { BrowserSession } from './browser-session.js';
import type { BrowserSettings } from './browser-settings.js';
import { RefNames } from './ref-names.js';
import { startChromium } from './start-chromium.js';

/** The session and the personality that own a browser, and the network policy of its pages. */
export interface BrowserOwner {
  sessionId: string;
  personalityId?: string | undefined;
  networkPolicy?: NetworkPolicy | undefined;
}

const MAX_SESSIONS_KNOWN = 1_000;
const CHANGED = 'It was closed because what it may reach has changed.';

/** Keeps the running browsers: one for each session and personality. */
export class BrowserHub {
  readonly #sessions = new Map<string, BrowserSession>();
  readonly #starting = new Map<string, Promise<BrowserSession>>();
  readonly #turns = new Turns();
  /** The reasons why browsers have ended. Each is kept until it was reported once. */
  readonly #reasons = new Map<string, string>();
  /** The source of refs of each session. Refs stay unique when the session gets another browser. */
  readonly #names = new Map<string, RefNames>();

  /**
   * Runs the calls of one session and personality one after another, in the order in which they
   * came.
   *
   * @throws the reason of `signal` when it fires before the turn has come
   */
  inTurn<T>(owner: BrowserOwner, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(keyOf(owner), work, signal);
  }

  /**
   * Returns the running browser of a session, or waits for the one that an earlier call is
   * starting. When the browser has another policy than the call, it closes the browser and returns
   * `undefined`.
   */
  async running(owner: BrowserOwner): Promise<BrowserSession | undefined> {
    const key = keyOf(owner);
    const starting = this.#starting.get(key)?.catch(() => undefined);
    const session = this.#sessions.get(key) ?? (await starting);
    if (session === undefined || session.isFor(owner)) return session;
    await this.close(owner, CHANGED);
    return undefined;
  }

  /** Returns why there is no browser, and forgets the reason. */
  takeReason(owner: BrowserOwner): string | undefined {
    const key = keyOf(owner);
    const reason = this.#reasons.get(key);
    this.#reasons.delete(key);
    return reason;
  }

  /**
   * Starts the browser of a session that has none.
   *
   * @returns the browser; `undefined` when `max_sessions` browsers already run
   * @throws the errors of opening a service and of starting a process; `CALL_ENDED` when the
   *   service ends meanwhile
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

  /** Records that a session used its browser, and restarts the time until it is closed as idle. */
  touch(owner: BrowserOwner, settings: BrowserSettings): void {
    const key = keyOf(owner);
    this.#sessions.get(key)?.touch(settings, () => {
      if (this.#turns.isBusy(key)) return;
      void this.close(owner, 'It was closed because it had not been used for a while.');
    });
  }

  /**
   * Closes the browser of a session, even one that is just starting.
   *
   * @returns whether there was one
   */
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

  /** Keeps the reason when the host ended the browser, unless the session has ended, too. */
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
