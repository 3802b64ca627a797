import type { PolicyPlaces, ResolvedGrant } from '@ethosagent/core';
import type { PersonalityConfig, ToolCapabilities } from '@ethosagent/types';
import type { ToolReach, ToolRuntime } from '@ethosagent/wiring';
import { givenSecrets, secretNote } from '../given-secrets.js';
import { grantLines } from '../grant-lines.js';
import type { ServerTools } from '../pinned-servers.js';
import type { ReachKind, ReachMatrix, ReachRow } from './inspect-api.js';
import { reachWhy } from './reach-why.js';

const KINDS: readonly ReachKind[] = ['host', 'path', 'secret', 'binary', 'other'];

/** The parts from which the matrix is built. */
export interface MatrixParts {
  personality: PersonalityConfig;
  places: PolicyPlaces;
  reach: readonly ToolReach[];
  /** Returns the declaration of a tool. */
  declared(tool: string): ToolCapabilities;
}

/** A thing that a tool may touch. */
interface Touch {
  kind: ReachKind;
  name: string;
  /** What the tool may do with it, or through which capability. */
  parts: string[];
  note?: string;
}

/** The matrix of some tools under a personality. */
export async function matrixOf(
  runtime: Pick<ToolRuntime, 'personality' | 'policyPlaces'>,
  { reach, tool }: ServerTools,
  id: string,
): Promise<ReachMatrix> {
  return reachMatrix({
    personality: await runtime.personality(id),
    places: await runtime.policyPlaces(id),
    reach,
    declared: (name) => tool(name)?.capabilities ?? {},
  });
}

/** Builds the matrix: what every tool may touch, by thing and tool, and why. */
export function reachMatrix({ personality, places, reach, declared }: MatrixParts): ReachMatrix {
  const rows = new Map<string, ReachRow>();
  for (const [index, { tool, grant }] of reach.entries()) {
    for (const { kind, name, parts, note } of touches(grant)) {
      const key = `${kind} ${name}`;
      const row: ReachRow = rows.get(key) ?? { kind, name, cells: {} };
      rows.set(key, row);
      row.cells[index] = {
        may: kind === 'path' ? parts.join(', ') : 'yes',
        ...(note !== undefined && { note }),
        ...reachWhy({ kind, name, parts }, declared(tool), { personality, places }),
      };
    }
  }
  return {
    personality: personality.id,
    tools: reach.map(({ tool, description, offered, unconfined = false }) => ({
      name: tool,
      description,
      offered,
      unconfined,
    })),
    rows: [...rows.values()].sort(
      (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
    ),
  };
}

function touches(grant: ResolvedGrant): Touch[] {
  const { network, fs_reach, process: processes } = grant;
  const paths = new Map<string, string[]>();
  for (const way of ['read', 'write'] as const) {
    for (const path of fs_reach?.[way] ?? []) {
      paths.set(path, [...new Set([...(paths.get(path) ?? []), way])]);
    }
  }
  const hostNote = [
    ...(network?.deny?.length ? [`but not ${network.deny.join(', ')}`] : []),
    ...(network?.allow_private_urls === true ? ['private addresses too'] : []),
  ].join('; ');
  return [
    ...(network?.allowedHosts ?? []).map((name) => touch('host', name, hostNote)),
    ...[...paths].map(([name, parts]): Touch => ({ kind: 'path', name, parts })),
    ...givenSecrets(grant).map((secret) => touch('secret', secret.ref, secretNote(secret))),
    ...(processes?.allowedBinaries ?? []).map((name) =>
      touch(
        'binary',
        name,
        `sandbox: ${processes?.sandbox ?? 'none, programs reach what the user may'}${processes?.background === true ? '; may go on in the background' : ''}`,
      ),
    ),
    ...others(grant),
  ];
}

/** The lines of the command `reach` that have rows of their own here, or are notes of those. */
const IN_ROWS: ReadonlySet<string> = new Set([
  'hosts',
  'not hosts',
  'private addresses',
  'read',
  'write',
  'secrets',
  'programs',
  'sandbox',
  'background',
]);

/** The capability that a line is about, where it has another name. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  'private machines': 'network',
  'service ports': 'network',
  'not files': 'fs_reach',
  'stay in place': 'fs_reach',
  links: 'fs_reach',
  arguments: 'process',
  limits: 'process',
  store: 'storage',
  'sub-agents': 'delegation',
};

/** The rest of a grant, in the words of the command `reach`. */
function others(grant: ResolvedGrant): Touch[] {
  return grantLines(grant)
    .filter(([what]) => !IN_ROWS.has(what))
    .map(([what, which]) => ({
      kind: 'other',
      name: what,
      parts: [CAPABILITIES[what] ?? what],
      note: which,
    }));
}

function touch(kind: ReachKind, name: string, note: string): Touch {
  return { kind, name, parts: [], ...(note !== '' && { note }) };
}
