import { isDeepStrictEqual } from 'node:util';
import type { PersonalityConfig } from '@ethosagent/types';
import { meetApprovals } from './meet-approvals.js';
import { type MeetOptions, meetEntries } from './meet-entries.js';
import { meetNetworkPolicies } from './meet-network.js';
import { meetProcessPolicies } from './meet-process.js';
import { meetQuotas } from './meet-quotas.js';
import { meetReaches } from './meet-reaches.js';
import { meetUntrusted } from './meet-untrusted.js';
import { meetSecretSources } from './secret-sources.js';

/**
 * The personality that allows what both allow, and nothing else. Its id is `a/b`, so that a chain
 * of meets is `a/b/c`, in which no id stands twice.
 *
 * Where no personality can say this exactly, the result allows less: a tool that both set
 * differently is withheld, and a host on a port of another service is kept only where both name the
 * port.
 *
 * @param a the caller's personality, whose id comes first
 * @param b the other one
 * @param options the tools that there are, and where paths lead
 * @returns the narrower personality
 */
export function meetPersonalities(
  a: PersonalityConfig,
  b: PersonalityConfig,
  options: MeetOptions = {},
): PersonalityConfig {
  if (isDeepStrictEqual(a, b)) return a;
  const settings = meetSettings(a, b);
  return {
    id: joined(a.id.split('/'), b.id.split('/'), '/'),
    name: joined([a.name], [b.name], ', '),
    ...texts('description', a, b),
    ...texts('instructions', a, b),
    ...present('toolset', meetToolsets(a.toolset, b.toolset, options)),
    ...present('fs_reach', meetReaches(a.fs_reach, b.fs_reach, options.realPath)),
    ...present('safety', meetSafety(a.safety, b.safety, options)),
    ...settings,
    ...present('mcp_servers', meetFilters(a.mcp_servers, b.mcp_servers)),
    ...present('plugins', meetFilters(a.plugins, b.plugins)),
  };
}

function meetSafety(
  a: PersonalityConfig['safety'],
  b: PersonalityConfig['safety'],
  options: MeetOptions,
): PersonalityConfig['safety'] {
  if (a === undefined && b === undefined) return undefined;
  return {
    ...present('network', meetNetworkPolicies(a?.network, b?.network)),
    ...present('secrets', meetSecretSources(a?.secrets, b?.secrets)),
    ...present('process', meetProcessPolicies(a?.process, b?.process)),
    ...present('quotas', meetQuotas(a?.quotas, b?.quotas)),
    ...present('untrusted', meetUntrusted(a?.untrusted, b?.untrusted, options)),
    ...present('approvals', meetApprovals(a?.approvals, b?.approvals)),
  };
}

/** The tools that both have. `undefined` stands for all tools. */
function meetToolsets(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
  { expand }: MeetOptions,
): string[] | undefined {
  if (a === undefined || b === undefined) return copyOf(a ?? b);
  return meetEntries(a, b, expand);
}

/** `undefined` stands for no filter. */
function meetFilters(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): string[] | undefined {
  if (a === undefined || b === undefined) return copyOf(a ?? b);
  const right = new Set(b);
  return a.filter((name) => right.has(name));
}

/**
 * The settings that are the same in both. If they differ, only the tool knows which ones allow
 * less. If one is missing, the tool's defaults apply, which may allow more or less. In both cases
 * the tool is withheld.
 */
function meetSettings(
  a: PersonalityConfig,
  b: PersonalityConfig,
): Pick<PersonalityConfig, 'tool_settings' | 'withheld'> {
  const withheld: Record<string, string> = { ...a.withheld, ...b.withheld };
  const left = a.tool_settings ?? {};
  const right = b.tool_settings ?? {};
  const same: [string, Record<string, unknown>][] = [];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const mine = ownOf(left, key);
    if (isDeepStrictEqual(mine ?? {}, ownOf(right, key) ?? {})) {
      if (mine !== undefined) same.push([key, mine]);
    } else if (!Object.hasOwn(withheld, key)) {
      withheld[key] = `${a.id} and ${b.id} set tool_settings.${key} differently`;
    }
  }
  const kept = same.filter(([key]) => !Object.hasOwn(withheld, key));
  return {
    ...(kept.length > 0 && { tool_settings: Object.fromEntries(kept) }),
    ...(Object.keys(withheld).length > 0 && { withheld }),
  };
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function texts<K extends 'description' | 'instructions'>(
  key: K,
  a: PersonalityConfig,
  b: PersonalityConfig,
): Partial<Record<K, string>> {
  const both = [a[key], b[key]].filter((text) => text !== undefined);
  return both.length === 0 ? {} : single(key, [...new Set(both)].join('\n\n'));
}

function joined(a: readonly string[], b: readonly string[], separator: string): string {
  return [...new Set([...a, ...b])].join(separator);
}

function copyOf(list: readonly string[] | undefined): string[] | undefined {
  return list && [...list];
}

function present<K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> {
  return value === undefined ? {} : single(key, value);
}

function single<K extends string, T>(key: K, value: T): Partial<Record<K, T>> {
  const made: Partial<Record<K, T>> = {};
  made[key] = value;
  return made;
}
