import { type AnyTool, EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { McpServerIdentity } from '../mcp.js';
import { compareReachLocks } from './compare-locks.js';
import type { LockChange } from './lock-change.js';
import type { LockPlaces } from './portable-lock.js';
import type { LockedPersonality, ReachLock } from './reach-lock.js';
import { type GivenTool, takeLock } from './take-lock.js';

/** The lock of a guard, and the state that the guard compares with it. */
export interface LockGuardParts {
  readonly lock: ReachLock;
  /** The name of the lock in messages. */
  readonly file: string;
  readonly places: LockPlaces;
  readonly environment: readonly string[];
  /** The present tools. */
  readonly tools: () => readonly AnyTool[];
  /** The tools that a personality allows. Calls `admits` for it. */
  readonly given: (config: PersonalityConfig) => readonly GivenTool[];
  readonly servers: () => Promise<readonly McpServerIdentity[]>;
}

interface Checked {
  readonly tools: readonly AnyTool[];
  readonly widened: readonly LockChange[];
}

const MAX_TOLD = 20;

/**
 * Holds the personalities of a runtime to a lock that was read once. A personality that reaches
 * further now gets nothing.
 */
export class LockGuard {
  readonly #parts: LockGuardParts;
  readonly #locked: ReadonlyMap<string, LockedPersonality>;
  readonly #checked = new WeakMap<PersonalityConfig, Checked>();
  readonly #admitted = new WeakSet<PersonalityConfig>();
  #inspected: PersonalityConfig | undefined;
  #servers: readonly McpServerIdentity[] | undefined;

  constructor(parts: LockGuardParts) {
    this.#parts = parts;
    this.#locked = new Map(parts.lock.personalities.map((each) => [each.personality, each]));
  }

  /**
   * Whether the last check found a personality, in this version of its file, to be within the lock.
   */
  admits(config: PersonalityConfig): boolean {
    return this.#admitted.has(config) || this.#inspected === config;
  }

  /**
   * Compares the present personalities with the lock.
   *
   * @throws `REACH_WIDENED` with what was widened
   */
  async check(configs: readonly PersonalityConfig[]): Promise<void> {
    this.#servers ??= await this.#parts.servers();
    this.checkNow(configs);
  }

  /** As `check`, without waiting, for tools that were added later. @throws `REACH_WIDENED` */
  checkNow(configs: readonly PersonalityConfig[]): void {
    const servers = this.#servers ?? [];
    for (const config of configs) {
      const widened = this.#widenedIn(config, servers);
      if (widened.length > 0) throw this.#refusal(widened);
    }
  }

  #widenedIn(
    config: PersonalityConfig,
    servers: readonly McpServerIdentity[],
  ): readonly LockChange[] {
    const tools = this.#parts.tools();
    const known = this.#checked.get(config);
    if (known !== undefined && isSame(known.tools, tools)) return known.widened;
    const { lock, places, environment } = this.#parts;
    const now = takeLock({
      places,
      environment,
      personalities: [{ config, tools: this.#inspect(config) }],
      servers,
    });
    const locked = this.#locked.get(config.id);
    const before = { ...lock, personalities: locked === undefined ? [] : [locked] };
    const widened = compareReachLocks(before, now).filter(({ kind }) => kind === 'widened');
    this.#checked.set(config, { tools, widened });
    if (widened.length === 0) this.#admitted.add(config);
    else this.#admitted.delete(config);
    return widened;
  }

  /** The tools that it would get, with their reach. */
  #inspect(config: PersonalityConfig): readonly GivenTool[] {
    this.#inspected = config;
    try {
      return this.#parts.given(config);
    } finally {
      this.#inspected = undefined;
    }
  }

  #refusal(widened: readonly LockChange[]): EthosError {
    const told = widened.slice(0, MAX_TOLD).map(({ personality, tool, server, message }) => {
      const who = [personality, tool ?? server].filter((part) => part !== undefined).join(': ');
      return `- ${who === '' ? '' : `${who} `}${message}`;
    });
    const more = widened.length > MAX_TOLD ? [`- and ${widened.length - MAX_TOLD} more`] : [];
    return new EthosError(
      'REACH_WIDENED',
      [
        `tools may touch more than ${this.#parts.file} says; review it with "ethosagent lock --check", and write the lock anew if it is meant`,
        ...told,
        ...more,
      ].join('\n'),
    );
  }
}

function isSame(a: readonly AnyTool[], b: readonly AnyTool[]): boolean {
  return a.length === b.length && a.every((tool, index) => tool === b[index]);
}
