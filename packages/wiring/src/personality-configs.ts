import type { PolicyPlaces } from '@ethosagent/core';
import { type AnyTool, errorCodeOf, type PersonalityConfig } from '@ethosagent/types';
import { MetPersonalities, plainId } from './met-personalities.js';
import { type PersonalityReach, personalityReach } from './personality-reach.js';
import type { PersonalityStore } from './personality-store.js';
import { policyPlaces } from './policy-lines.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { withOtherProblems } from './sound-keys.js';

export interface PersonalityConfigsParts {
  home: string;
  store: PersonalityStore;
  /** The tools that group labels stand for. */
  tools: () => readonly AnyTool[];
  /** The problems of a personality other than the shape of its file. */
  problemsOf: (config: PersonalityConfig) => readonly RuntimeProblem[];
  /** Ends what keeps the reach that a personality had before. */
  endPersonality: (personalityId: string) => Promise<void>;
}

/** The configs in use: of personalities, and of what several of them allow together. */
export class PersonalityConfigs {
  readonly #parts: PersonalityConfigsParts;
  readonly #met: MetPersonalities;
  /**
   * The configs of the newest batch of each personality. A call gets its files and hosts when it
   * begins. So a call that waited in an older batch gets what the file says at that time.
   */
  readonly #known = new Map<string, PersonalityConfig>();
  readonly #places = new WeakMap<PersonalityConfig, PolicyPlaces>();
  readonly #reaches = new WeakMap<PersonalityConfig, PersonalityReach>();

  constructor(parts: PersonalityConfigsParts) {
    this.#parts = parts;
    this.#met = new MetPersonalities(parts.store, parts.tools);
  }

  /**
   * The config as the files are now. Calls that begin from now on use it too. @throws
   * `CONFIG_INVALID`
   */
  async get(asked: string): Promise<PersonalityConfig> {
    const id = plainId(asked);
    try {
      const config = await this.#met.get(id);
      // Checked before the config is used: an impossible reach is a mistake in the file.
      this.reachOf(config);
      const before = this.#known.get(id);
      this.#known.set(id, config);
      if (before !== undefined && !this.reachesTheSame(before, config)) {
        await this.#endOld(id);
      }
      return config;
    } catch (error) {
      // Calls that still run lose their reach too.
      this.#known.delete(id);
      await this.#endOld(id);
      throw withOtherProblems(error, this.#parts.problemsOf);
    }
  }

  /**
   * The config for a call that begins; `undefined` if it may reach nothing. The files are asked
   * again: a call may have waited since its batch began. And a folder of one part of a meet may now
   * lead to a place that another part excludes.
   */
  at(id: string | undefined): PersonalityConfig | undefined {
    const known = this.#known.get(id ?? '');
    if (known === undefined) return undefined;
    try {
      const config = this.#met.peek(known.id);
      if (config !== undefined) this.reachOf(config);
      return config;
    } catch (error) {
      if (errorCodeOf(error) === 'CONFIG_INVALID') return undefined;
      throw error;
    }
  }

  /** The personalities of a meet. Of a single personality, the personality itself. */
  partsOf(config: PersonalityConfig): readonly PersonalityConfig[] {
    return this.#met.partsOf(config);
  }

  /** Whether something that began under a config may continue under a newer one. */
  reachesTheSame(before: PersonalityConfig, now: PersonalityConfig): boolean {
    return this.#met.reachesTheSame(before, now);
  }

  /**
   * Its reach, without anything that one of its parts may not reach. The same object each time,
   * unless it is provisional. @throws `CONFIG_INVALID`
   */
  reachOf(config: PersonalityConfig): PersonalityReach {
    let reach = this.#reaches.get(config);
    if (reach === undefined) {
      const { home, store } = this.#parts;
      const parts = this.partsOf(config).filter((part) => part !== config);
      const denied = parts.flatMap((part) => this.reachOf(part).deny);
      const own = personalityReach(home, config, (id) => store.peek(id));
      reach = { ...own, deny: [...new Set([...denied, ...own.deny])] };
      if (!own.isProvisional) this.#reaches.set(config, reach);
    }
    return reach;
  }

  /** Finds where the entries of a config stand in the files that they come from. */
  placesOf(config: PersonalityConfig): PolicyPlaces {
    let places = this.#places.get(config);
    if (places === undefined) {
      const { tools } = this.#parts;
      const labelOf = (name: string) => tools().find((tool) => tool.name === name)?.toolset;
      places = policyPlaces(this.partsOf(config), labelOf);
      this.#places.set(config, places);
    }
    return places;
  }

  /**
   * A service or a background process keeps the reach that it began with, so it ends when the reach
   * changes.
   */
  async #endOld(id: string): Promise<void> {
    const meets = [...this.#known.keys()].filter((known) => known.split('/').includes(id));
    await Promise.all([id, ...meets].map((each) => this.#parts.endPersonality(each)));
  }
}
