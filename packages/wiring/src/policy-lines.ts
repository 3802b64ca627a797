import type { PolicyPlaces } from '@ethosagent/core';
import { coveringHostEntry, coveringPathEntry } from '@ethosagent/policy';
import type { PersonalityConfig } from '@ethosagent/types';

/** The lines of a file, by the part of the config or the entry of a list that stands there. */
export type PolicyLines = ReadonlyMap<string, number>;

type Path = readonly (string | number)[];

const linesByConfig = new WeakMap<PersonalityConfig, PolicyLines>();

/** The parts of a file that decide on accesses. */
const DECIDING = ['toolset', 'mcp_servers', 'fs_reach', 'safety'] as const;

/** Records the lines of the parts of a config, once, when the file was read. */
export function notePolicyLines(config: PersonalityConfig, lineOf: (path: Path) => number): void {
  const lines = new Map<string, number>();
  const note = (key: string, path: Path) => {
    // If an entry stands twice, the first one counts.
    if (!lines.has(key)) lines.set(key, lineOf(path));
  };
  const walk = (value: unknown, path: Path) => {
    const part = path.join('.');
    note(part, path);
    if (Array.isArray(value)) {
      for (const [index, entry] of value.entries()) {
        if (typeof entry === 'string') note(keyOf(part, entry), [...path, index]);
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) walk(child, [...path, key]);
    }
  };
  for (const key of DECIDING) if (config[key] !== undefined) walk(config[key], [key]);
  linesByConfig.set(config, lines);
}

/** Gives the group label of a tool. */
export type LabelOf = (tool: string) => string | undefined;

/**
 * Finds where the parts of a policy stand.
 *
 * @param parts the personalities of the policy, each with its file. An entry of a meet comes from
 * one entry of each
 * @param labelOf returns the group label of a tool
 */
export function policyPlaces(parts: readonly PersonalityConfig[], labelOf: LabelOf): PolicyPlaces {
  const known = new Map<string, readonly string[]>();
  return (part, entry) => {
    const key = entry === undefined ? part : keyOf(part, entry);
    let places = known.get(key);
    if (places === undefined) {
      places = parts.flatMap((config) => placeIn(config, { part, entry, labelOf }) ?? []);
      known.set(key, places);
    }
    return places;
  };
}

function placeIn(
  config: PersonalityConfig,
  { part, entry, labelOf }: { part: string; entry: string | undefined; labelOf: LabelOf },
): string | undefined {
  const lines = linesByConfig.get(config);
  const line =
    part === 'toolset' && entry !== undefined
      ? lineOfTool(lines, entry, labelOf)
      : (lineOfEntry(config, part, entry) ?? lines?.get(part));
  return line === undefined ? undefined : `personalities/${config.id}/config.yaml:${line}`;
}

function lineOfEntry(
  config: PersonalityConfig,
  part: string,
  entry: string | undefined,
): number | undefined {
  const lines = linesByConfig.get(config);
  if (entry === undefined) return undefined;
  const exact = lines?.get(keyOf(part, entry));
  if (exact !== undefined) return exact;
  // For a meet: the wider entry from which it comes.
  const { network } = config.safety ?? {};
  const [list, covering] =
    part === 'safety.network.allow'
      ? [network?.allow, coveringHostEntry]
      : part === 'fs_reach.read' || part === 'fs_reach.write'
        ? [config.fs_reach?.[part === 'fs_reach.read' ? 'read' : 'write'], coveringPathEntry]
        : [undefined, coveringHostEntry];
  const index = list && covering(list, entry);
  const own = index === undefined ? undefined : list?.[index];
  return own === undefined ? undefined : lines?.get(keyOf(part, own));
}

/** A toolset lists a tool by its name, or by the label of its group. */
function lineOfTool(
  lines: PolicyLines | undefined,
  tool: string,
  labelOf: LabelOf,
): number | undefined {
  const label = labelOf(tool);
  const named = lines?.get(keyOf('toolset', tool));
  return named ?? (label === undefined ? undefined : lines?.get(keyOf('toolset', label)));
}

function keyOf(part: string, entry: string): string {
  return `${part}\n${entry}`;
}
