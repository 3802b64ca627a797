import { compileCoveringHosts, compileCoveringPaths } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { placeIn } from '../personality-places.js';
import type { LockChange } from './lock-change.js';

/** Keys whose last part may contain dots. */
const NAMED = ['safety.process.arguments.', 'safety.secrets.', 'tool_settings.'];

/** Where a change may come from: the file and config of a personality, and the tool. */
interface ChangeSource {
  file: string;
  config: PersonalityConfig;
  tool: AnyTool | undefined;
}

/**
 * Creates a function that adds to a change the file and line where its cause stands now. It compiles
 * each list of a config once, so use it for all changes of one comparison.
 */
export function createChangePlacer(): (change: LockChange, source: ChangeSource) => LockChange {
  const lists = new WeakMap<readonly unknown[], ListEntries>();
  const entriesOf = (list: readonly unknown[]) => {
    const known = lists.get(list) ?? new ListEntries(list);
    lists.set(list, known);
    return known;
  };
  return (change, { file, config, tool }) => {
    const { policy } = change;
    if (policy === undefined) return { ...change, file };
    const place = placeIn(file, config, pathOf(change, { config, tool, entriesOf }));
    const line = Number(/:(\d+):\d+$/.exec(place.slice(file.length))?.[1]);
    return { ...change, file, ...(Number.isInteger(line) && { line }) };
  };
}

function pathOf(
  { policy = '', entry, tool: name }: LockChange,
  {
    config,
    tool,
    entriesOf,
  }: Omit<ChangeSource, 'file'> & { entriesOf: (list: readonly unknown[]) => ListEntries },
): (string | number)[] {
  if (policy.startsWith('tool_settings.')) {
    return ['tool_settings', tool?.settingsKey ?? name ?? ''];
  }
  const named = NAMED.find((prefix) => policy.startsWith(prefix));
  const path =
    named === undefined
      ? policy.split('.')
      : [...named.slice(0, -1).split('.'), policy.slice(named.length)];
  const list: unknown = path.reduce(
    (value: unknown, part) => Object.getOwnPropertyDescriptor(Object(value), part)?.value,
    config,
  );
  if (!Array.isArray(list) || entry === undefined) return path;
  const index = entriesOf(list).placeOf(entry, { policy, label: tool?.toolset });
  return index === undefined ? path : [...path, index];
}

/** The entries of a list, compiled when they are first asked for. */
class ListEntries {
  readonly #list: readonly unknown[];
  readonly #places = new Map<unknown, number>();
  #ofHost: ((pattern: string) => number | undefined) | undefined;
  #ofPath: ((path: string) => number | undefined) | undefined;

  constructor(list: readonly unknown[]) {
    this.#list = list;
    for (const [place, entry] of list.entries()) {
      if (!this.#places.has(entry)) this.#places.set(entry, place);
    }
  }

  /**
   * The entry from which a part of a reach comes: the same entry, or one that covers it.
   */
  placeOf(
    entry: string,
    { policy, label }: { policy: string; label: string | undefined },
  ): number | undefined {
    const exact = this.#places.get(entry);
    if (exact !== undefined) return exact;
    if (policy === 'toolset') return label === undefined ? undefined : this.#places.get(label);
    if (policy === 'safety.network.allow') {
      this.#ofHost ??= compileCoveringHosts(this.#list.map(String));
      return this.#ofHost(entry);
    }
    if (policy.startsWith('fs_reach.')) {
      this.#ofPath ??= compileCoveringPaths(this.#list.map(String));
      return this.#ofPath(entry);
    }
    return undefined;
  }
}
