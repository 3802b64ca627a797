import type { ScopedServices } from '@ethosagent/types';
import { BrowserSession } from './browser-session.js';
import type { BrowserSettings } from './browser-settings.js';
import { startChromium } from './start-chromium.js';

/** Whose browser it is. */
export interface BrowserOwner {
  sessionId: string;
  personalityId?: string | undefined;
}

const MAX_REASONS = 1_000;

/** The browsers that run: one for each session and personality. */
export class BrowserHub {
  readonly #sessions = new Map<string, BrowserSession>();
  readonly #starting = new Map<string, Promise<BrowserSession>>();
  /** Why the browser of a session is no longer there, until it was told. */
  readonly #reasons = new Map<string, string>();

  /** The browser of a session that runs. */
  running(owner: BrowserOwner): BrowserSession | undefined {
    return this.#sessions.get(keyOf(owner));
  }

  /** Why there is none, told once. */
  takeReason(owner: BrowserOwner): string | undefined {
    const key = keyOf(owner);
    const reason = this.#reasons.get(key);
    this.#reasons.delete(key);
    return reason;
  }

  /**
   * The browser of a session, started when there is none.
   *
   * @returns `undefined` when as many run as may
   * @throws what opening a service and starting a process throws
   */
  async open(
    owner: BrowserOwner,
    services: ScopedServices,
    settings: BrowserSettings,
  ): Promise<BrowserSession | undefined> {
    const key = keyOf(owner);
    const there = this.#sessions.get(key) ?? this.#starting.get(key);
    if (there !== undefined) return there;
    if (this.#sessions.size + this.#starting.size >= settings.max_sessions) return undefined;
    const starting = this.#start(key, services, settings);
    this.#starting.set(key, starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(key);
    }
  }

  /** Tells that a session used its browser. */
  touch(owner: BrowserOwner, settings: BrowserSettings): void {
    const session = this.running(owner);
    session?.touch(settings, () => {
      void this.close(owner, 'It was closed because it had not been used for a while.');
    });
  }

  /** Closes the browser of a session; says whether there was one. */
  async close(owner: BrowserOwner, reason?: string): Promise<boolean> {
    const key = keyOf(owner);
    const session = this.#sessions.get(key);
    if (session === undefined) return false;
    this.#forget(key, session, reason);
    await session.close();
    return true;
  }

  async #start(
    key: string,
    services: ScopedServices,
    settings: BrowserSettings,
  ): Promise<BrowserSession> {
    const scope = await services.open();
    try {
      const session = new BrowserSession(scope, await startChromium(scope, settings));
      this.#sessions.set(key, session);
      scope.signal.addEventListener('abort', () => this.#forget(key, session), { once: true });
      session.gone.addEventListener(
        'abort',
        () => {
          this.#forget(key, session, 'The browser crashed, or was ended from outside.');
          session.close().catch(() => {});
        },
        { once: true },
      );
      return session;
    } catch (error) {
      await scope.end();
      throw error;
    }
  }

  #forget(key: string, session: BrowserSession, reason?: string): void {
    if (this.#sessions.get(key) !== session) return;
    this.#sessions.delete(key);
    if (reason === undefined || this.#reasons.size >= MAX_REASONS) return;
    this.#reasons.set(key, reason);
  }
}

function keyOf({ sessionId, personalityId }: BrowserOwner): string {
  return JSON.stringify([sessionId, personalityId ?? null]);
}
