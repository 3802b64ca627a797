import type { PolicyPlaces } from '@ethosagent/core';
import { declaredRef, isWithin, meetHosts, secretRefMatches } from '@ethosagent/policy';
import type { PersonalityConfig, ToolCapabilities } from '@ethosagent/types';
import type { ReachKind } from './inspect-api.js';

/** A thing that a tool may touch. */
export interface ReachedThing {
  kind: ReachKind;
  name: string;
  /** `read` and `write` for paths, the name of a capability for other things. */
  parts: readonly string[];
}

/** A policy, and the places of its parts. */
export interface PolicyParts {
  personality: Pick<PersonalityConfig, 'fs_reach' | 'safety'>;
  places: PolicyPlaces;
}

/** A part of a declaration or of a policy, with the entry of its list. */
interface Entry {
  part: string;
  index?: number;
  entry?: string;
}

/** The entries of a declaration and of a personality that allow a tool to touch something. */
export function reachWhy(
  thing: ReachedThing,
  declared: ToolCapabilities,
  { personality, places }: PolicyParts,
): { declared: string[]; policy: string[] } {
  return {
    declared: declaredEntries(thing, declared),
    policy: policyEntries(thing, personality).map((entry) =>
      [...places(entry.part, entry.entry), textOf(entry)].join('  '),
    ),
  };
}

function declaredEntries(
  { kind, name, parts }: ReachedThing,
  declared: ToolCapabilities,
): string[] {
  switch (kind) {
    case 'host':
      return covering('network.allowedHosts', declared.network?.allowedHosts, (entry) =>
        coversHost(entry, name),
      ).map(textOf);
    case 'path':
      return waysOf(parts).flatMap((way) => {
        const paths = declared.fs_reach?.[way];
        return paths === 'from-personality'
          ? `fs_reach.${way} = "from-personality"`
          : covering(`fs_reach.${way}`, paths, (entry) => coversPath(entry, name)).map(textOf);
      });
    case 'secret':
      return covering(
        'secrets',
        declared.secrets?.map(declaredRef),
        (entry) => entry === name || secretRefMatches(entry, name),
      ).map(textOf);
    case 'binary':
      return covering(
        'process.allowedBinaries',
        declared.process?.allowedBinaries,
        (entry) => entry === '*' || entry === name,
      ).map(textOf);
    case 'other':
      return Object.entries(declared)
        .filter(([key]) => parts.includes(key))
        .map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  }
}

/** The part of `safety` that a line of the command `reach` comes from. */
const OTHER_PARTS: Readonly<Record<string, string>> = {
  'private machines': 'network.allow',
  'service ports': 'network.allow',
  arguments: 'process.arguments',
  limits: 'process.limits',
  quotas: 'quotas',
};

function policyEntries(
  { kind, name, parts }: ReachedThing,
  { fs_reach, safety }: PolicyParts['personality'],
): Entry[] {
  switch (kind) {
    case 'host':
      return covering('safety.network.allow', safety?.network?.allow, (entry) =>
        coversHost(entry, name),
      );
    case 'path':
      return waysOf(parts).flatMap((way) =>
        covering(`fs_reach.${way}`, fs_reach?.[way], (entry) => coversPath(entry, name)),
      );
    case 'binary':
      return safety?.process?.sandbox === undefined ? [] : [{ part: 'safety.process.sandbox' }];
    case 'other': {
      const bounds: Readonly<Record<string, unknown>> = {
        'network.allow': safety?.network?.allow,
        'process.arguments': safety?.process?.arguments,
        'process.limits': safety?.process?.limits,
        quotas: safety?.quotas,
      };
      const part = OTHER_PARTS[name];
      return part === undefined || bounds[part] === undefined ? [] : [{ part: `safety.${part}` }];
    }
    case 'secret':
      return Object.hasOwn(safety?.secrets ?? {}, name) ? [{ part: `safety.secrets.${name}` }] : [];
  }
}

function covering(
  part: string,
  entries: readonly string[] | undefined,
  covers: (entry: string) => boolean,
): Entry[] {
  return (entries ?? []).flatMap((entry, index) => (covers(entry) ? { part, index, entry } : []));
}

function textOf({ part, index, entry }: Entry): string {
  return index === undefined ? part : `${part}[${index}] = ${JSON.stringify(entry)}`;
}

function waysOf(parts: readonly string[]): ('read' | 'write')[] {
  return (['read', 'write'] as const).filter((way) => parts.includes(way));
}

function coversHost(entry: string, name: string): boolean {
  return entry === name || meetHosts(entry, name) === name;
}

function coversPath(entry: string, path: string): boolean {
  return entry === path || isWithin(path, entry);
}
