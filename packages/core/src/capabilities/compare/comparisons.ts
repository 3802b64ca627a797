import { isSameOwner } from '@ethosagent/policy';
import type { CapabilityKey } from '../capability-module.js';
import type { ResolvedGrant } from '../resolved-grant.js';
import { compareFiles } from './compare-files.js';
import { compareNetwork } from './compare-network.js';
import { compareProcesses } from './compare-processes.js';
import { compareQuotas } from './compare-quotas.js';
import { compareSecrets } from './compare-secrets.js';
import type { CompareCapability } from './grant-change.js';

/**
 * What one grant gives of each of its parts, and another one may not. A part that is missing here
 * does not compile. It stands apart from the capabilities, so that comparing two grants loads no
 * accessor.
 */
export const COMPARISONS: {
  // `secretSources` is compared together with the secrets.
  readonly [K in CapabilityKey | Exclude<keyof ResolvedGrant, 'secretSources'>]: CompareCapability;
} = {
  secrets: compareSecrets,
  network: compareNetwork,
  // Each scope has a namespace of its own.
  storage: ({ storage: before }, { storage: after }) =>
    after === undefined || after.scope === before?.scope
      ? []
      : [{ what: `the ${after.scope} store`, entry: after.scope, declared: 'storage.scope' }],
  fs_reach: compareFiles,
  process: compareProcesses,
  attachments: ({ attachments: before }, { attachments: after }) =>
    (after?.mediaTypes ?? [])
      .filter((type) => !before?.mediaTypes.some((each) => coversType(each, type)))
      .map((type) => ({
        what: `attachments of the type ${type}`,
        entry: type,
        declared: 'attachments.mediaTypes',
      })),
  memory: ({ memory: before }, { memory: after }) => {
    if (after === undefined) return [];
    const declared = 'memory.access';
    const scopes = after.scopes
      .filter((scope) => before?.scopes.includes(scope) !== true)
      .map((scope) => ({ what: `the memory ${scope}`, entry: scope, declared }));
    return before?.access === 'read' && after.access === 'read-write'
      ? [...scopes, { what: 'changes of the memory', declared }]
      : scopes;
  },
  sessions: ({ sessions: before }, { sessions: after }) => {
    if (after === undefined) return [];
    const declared = 'sessions.access';
    if (before === undefined) return [{ what: 'the messages of its session', declared }];
    const { owner } = after;
    if (owner === null || (before.owner !== null && isSameOwner(before.owner, owner))) return [];
    return [{ what: `the sessions of ${owner.scopeId}`, entry: owner.scopeId, declared }];
  },
  service: ({ service: before }, { service: after }) =>
    after === undefined || before !== undefined
      ? []
      : [{ what: 'what it keeps open beyond a call', declared: 'service' }],
  delegation: ({ delegation: before }, { delegation: after }) => {
    if (after === undefined) return [];
    if (before === undefined) return [{ what: 'sub-agents', declared: 'delegation' }];
    return after.background && !before.background
      ? [{ what: 'sub-agents in the background', declared: 'delegation.background' }]
      : [];
  },
  calls: ({ calls: before }, { calls: after }) => {
    const known = new Set(before?.tools);
    return (after?.tools ?? [])
      .filter((name) => !known.has(name))
      .map((name) => ({ what: `calls of ${name}`, entry: name, declared: 'calls.tools' }));
  },
  quotas: compareQuotas,
};

function coversType(wide: string, narrow: string): boolean {
  const pattern = wide.toLowerCase();
  const type = narrow.toLowerCase();
  if (pattern === '*/*' || pattern === type) return true;
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1));
}
