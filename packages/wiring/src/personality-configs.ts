import type { PolicyPlaces } from '@ethosagent/core';
import { type AnyTool, errorCodeOf, type PersonalityConfig } from '@ethosagent/types';
import { MetPersonalities, plainId } from './met-personalities.js';
import { type PersonalityReach, personalityReach } from './personality-reach.js';
import type { PersonalityStore } from './personality-store.js';
import { policyPlaces } from './policy-lines.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { withOtherProblems } from './sound-keys.js';

/** What configs are made of. */
export interface PersonalityConfigsParts {
  home: string;
  store: PersonalityStore;
  /** Tools that group labels stand for. */
  tools: () => readonly AnyTool[];
  /** What is wrong with a personality, beside its shape. */
  problemsOf: (config: PersonalityConfig) => readonly RuntimeProblem[];
  /** Ends what a personality keeps open. */
  endServices: (personalityId: string) => Promise<void>;
}

/** The configs that count: of personalities, and of what several allow together. */
export class PersonalityConfigs {
  readonly #parts: PersonalityConfigsParts;
  readonly #met: MetPersonalities;
  /**
   * Configs as of the newest batch of each personality. A call gets its files and hosts when it
   * begins, so one that waited in an older batch gets what the file says by then.
   */
  readonly #known = new Map<string, PersonalityConfig>();
  readonly #places = new WeakMap<PersonalityConfig, PolicyPlaces>();
  readonly #reaches = new WeakMap<PersonalityConfig, PersonalityReach>();

  constructor(parts: PersonalityConfigsParts) {
    this.#parts = parts;
    this.#met = new MetPersonalities(parts.store, parts.tools);
  }

  /** As the files say now; for the calls that begin from now on too. @throws `CONFIG_INVALID` */
  async get(asked: string): Promise<PersonalityConfig> {
    const id = plainId(asked);
    try {
      const config = await this.#met.get(id);
      // Before the config counts: a reach that it may not have is a mistake in the file.
      this.reachOf(config);
      const before = this.#known.get(id);
      this.#known.set(id, config);
      if (before !== undefined && !this.reachesTheSame(before, config)) {
        await this.#endServicesOf(id);
      }
      return config;
    } catch (error) {
      // Calls that still run lose their reach too.
      this.#known.delete(id);
      await this.#endServicesOf(id);
      throw withOtherProblems(error, this.#parts.problemsOf);
    }
  }

  /**
   * For a call that begins; `undefined` where nothing may be reached. A meet is looked at again: the
   * file of one of both may have changed without a batch of the meet, and one that met may have
   * moved a folder to where the other may not go.
   */
  at(id: string | undefined): PersonalityConfig | undefined {
    const known = this.#known.get(id ?? '');
    if (known === undefined || this.partsOf(known).length === 1) return known;
    try {
      const config = this.#met.peek(known.id);
      if (config !== undefined) this.reachOf(config);
      return config;
    } catch (error) {
      if (errorCodeOf(error) === 'CONFIG_INVALID') return undefined;
      throw error;
    }
  }

  /** What a personality was made of; itself where it was made of nothing else. */
  partsOf(config: PersonalityConfig): readonly PersonalityConfig[] {
    return this.#met.partsOf(config);
  }

  /** Whether what was begun under a config may go on under a newer one. */
  reachesTheSame(before: PersonalityConfig, now: PersonalityConfig): boolean {
    return this.#met.reachesTheSame(before, now);
  }

  /** What it may reach, without what any of those that met may not. @throws `CONFIG_INVALID` */
  reachOf(config: PersonalityConfig): PersonalityReach {
    let reach = this.#reaches.get(config);
    if (reach === undefined) {
      const { home, store } = this.#parts;
      const parts = this.partsOf(config).filter((part) => part !== config);
      const denied = parts.flatMap((part) => this.reachOf(part).deny);
      const own = personalityReach(home, config, (id) => store.peek(id));
      reach = { ...own, deny: [...new Set([...denied, ...own.deny])] };
      this.#reaches.set(config, reach);
    }
    return reach;
  }

  /** Where what it says stands in the files that it came from. */
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

  /** What is kept open has the reach that the file gave when it was opened. */
  async #endServicesOf(id: string): Promise<void> {
    const meets = [...this.#known.keys()].filter((known) => known.split('/').includes(id));
    await Promise.all([id, ...meets].map((each) => this.#parts.endServices(each)));
  }
}
