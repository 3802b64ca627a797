import { expandToolset, meetPersonalities } from '@ethosagent/policy';
import { realLocation } from '@ethosagent/storage-fs';
import { type AnyTool, EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { PersonalityStore } from './personality-store.js';

/** How many personalities can meet. A larger number is a mistake or an attack. */
const MAX_PARTS = 16;
/** How many meets are kept. */
const MAX_MEETS = 256;

interface Meet {
  parts: readonly PersonalityConfig[];
  tools: readonly AnyTool[];
  /** Where the folders of the parts led. */
  places: readonly string[];
  config: PersonalityConfig;
}

/** The id of a meet, without repeated parts. @throws `CONFIG_INVALID` for what is no text */
export function plainId(id: string): string {
  if (typeof id !== 'string') {
    throw new EthosError('CONFIG_INVALID', 'the id of a personality must be a text');
  }
  return [...new Set(id.split('/'))].join('/');
}

/** The personalities of a home, and what several of them allow together: `a/b`. */
export class MetPersonalities {
  readonly #store: PersonalityStore;
  readonly #tools: () => readonly AnyTool[];
  readonly #meets = new Map<string, Meet>();
  readonly #made = new WeakMap<PersonalityConfig, Meet>();

  /** @param tools the tools that group labels stand for */
  constructor(store: PersonalityStore, tools: () => readonly AnyTool[]) {
    this.#store = store;
    this.#tools = tools;
  }

  /**
   * A personality by its id, or a meet by `a/b`, as the files are now. Returns the same object as
   * long as nothing has changed.
   * @throws `CONFIG_INVALID`
   */
  async get(id: string): Promise<PersonalityConfig> {
    const parts = await Promise.all(partIds(id).map((part) => this.#store.get(part)));
    return this.#meet(id, parts) ?? this.#store.get(id);
  }

  /**
   * As `get`, without waiting; `undefined` if a file can't be read now. @throws `CONFIG_INVALID`
   */
  peek(id: string): PersonalityConfig | undefined {
    const ids = partIds(id);
    const parts = ids.flatMap((part) => this.#store.peek(part) ?? []);
    return parts.length === ids.length ? this.#meet(id, parts) : undefined;
  }

  /** The personalities of a meet. Of a single personality, the personality itself. */
  partsOf(config: PersonalityConfig): readonly PersonalityConfig[] {
    return this.#made.get(config)?.parts ?? [config];
  }

  /**
   * Whether something that began under a config may continue under a newer one of the same
   * personality: the files and folders must be the same. A server may have added tools.
   */
  reachesTheSame(before: PersonalityConfig, now: PersonalityConfig): boolean {
    if (before === now) return true;
    const [old, made] = [this.#made.get(before), this.#made.get(now)];
    if (old === undefined || made === undefined) return false;
    return same(old.parts, made.parts) && same(old.places, made.places);
  }

  #meet(id: string, parts: readonly PersonalityConfig[]): PersonalityConfig | undefined {
    const [first, ...others] = parts;
    if (first === undefined || others.length === 0) return first;
    const tools = this.#tools();
    const known = this.#meets.get(id);
    // A folder of one part may have become a link to a place that another part excludes.
    const places = parts.flatMap(placesOf);
    if (
      known !== undefined &&
      same(known.parts, parts) &&
      same(known.tools, tools) &&
      same(known.places, places)
    ) {
      return known.config;
    }
    const expand = (entries: readonly string[]) => expandToolset(entries, tools).names ?? [];
    const config = others.reduce(
      (met, other) => meetPersonalities(met, other, { expand, realPath: realLocation }),
      first,
    );
    this.#keep(id, { parts, tools, places, config });
    return config;
  }

  #keep(id: string, meet: Meet): void {
    this.#made.set(meet.config, meet);
    this.#meets.delete(id);
    this.#meets.set(id, meet);
    const [oldest] = this.#meets.keys();
    if (this.#meets.size > MAX_MEETS && oldest !== undefined) this.#meets.delete(oldest);
  }
}

/** @throws `CONFIG_INVALID` for too many parts */
function partIds(id: string): string[] {
  const ids = id.split('/');
  if (ids.length <= MAX_PARTS) return ids;
  const problem = `the id joins ${ids.length} personalities, and at most ${MAX_PARTS} can be joined`;
  throw new EthosError('CONFIG_INVALID', problem);
}

function placesOf({ fs_reach }: PersonalityConfig): string[] {
  return [...(fs_reach?.read ?? []), ...(fs_reach?.write ?? [])].map((path) => realLocation(path));
}

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
