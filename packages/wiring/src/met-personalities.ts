import { expandToolset, meetPersonalities } from '@ethosagent/policy';
import { realLocation } from '@ethosagent/storage-fs';
import { type AnyTool, EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { PersonalityStore } from './personality-store.js';

/** Personalities that can meet: more is somebody's mistake, or an attack. */
const MAX_PARTS = 16;
/** Meets that are kept. */
const MAX_MEETS = 256;

interface Meet {
  parts: readonly PersonalityConfig[];
  tools: readonly AnyTool[];
  /** Where the folders of the parts were. */
  places: readonly string[];
  config: PersonalityConfig;
}

/** The id of a meet in which none stands twice. */
export function plainId(id: string): string {
  return [...new Set(id.split('/'))].join('/');
}

/** The personalities of a home, and what several of them allow together: `a/b`. */
export class MetPersonalities {
  readonly #store: PersonalityStore;
  readonly #tools: () => readonly AnyTool[];
  readonly #meets = new Map<string, Meet>();
  readonly #made = new WeakMap<PersonalityConfig, Meet>();

  /** @param tools that group labels stand for */
  constructor(store: PersonalityStore, tools: () => readonly AnyTool[]) {
    this.#store = store;
    this.#tools = tools;
  }

  /**
   * A personality by its plain id, or `a/b`, as the files say now; the same object while nothing has changed.
   * @throws `CONFIG_INVALID`
   */
  async get(id: string): Promise<PersonalityConfig> {
    const parts = await Promise.all(partIds(id).map((part) => this.#store.get(part)));
    return this.#meet(id, parts) ?? this.#store.get(id);
  }

  /** The same without waiting, or `undefined` where a file can't be read now. @throws `CONFIG_INVALID` */
  peek(id: string): PersonalityConfig | undefined {
    const ids = partIds(id);
    const parts = ids.flatMap((part) => this.#store.peek(part) ?? []);
    return parts.length === ids.length ? this.#meet(id, parts) : undefined;
  }

  /** What a personality was made of; itself where it was made of nothing else. */
  partsOf(config: PersonalityConfig): readonly PersonalityConfig[] {
    return this.#made.get(config)?.parts ?? [config];
  }

  /**
   * Whether what was begun under a config may go on under a newer one of the same personality: the
   * same files and folders, though a server may have brought tools meanwhile.
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
    // A folder of one that has become a link may lead to where another may not go.
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

/** @throws `CONFIG_INVALID` for too many */
function partIds(id: string): string[] {
  const ids = id.split('/');
  if (ids.length <= MAX_PARTS) return ids;
  const problem = `${ids.length} personalities are to meet; ${MAX_PARTS} can`;
  throw new EthosError('CONFIG_INVALID', problem);
}

function placesOf({ fs_reach }: PersonalityConfig): string[] {
  return [...(fs_reach?.read ?? []), ...(fs_reach?.write ?? [])].map((path) => realLocation(path));
}

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
