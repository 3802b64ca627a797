import { isSameOwner } from '@ethosagent/policy';
import type { CompareCapability } from './grant-change.js';

/** Namespaces of key-value stores. Each scope is another one. */
export const compareStorage: CompareCapability = ({ storage: before }, { storage: after }) =>
  after === undefined || after.scope === before?.scope
    ? []
    : [{ what: `the ${after.scope} store`, entry: after.scope, declared: 'storage.scope' }];

/** What is remembered beyond a session. */
export const compareMemory: CompareCapability = ({ memory: before }, { memory: after }) => {
  if (after === undefined) return [];
  const declared = 'memory.access';
  const scopes = after.scopes
    .filter((scope) => before?.scopes.includes(scope) !== true)
    .map((scope) => ({ what: `the memory ${scope}`, entry: scope, declared }));
  return before?.access === 'read' && after.access === 'read-write'
    ? [...scopes, { what: 'changes of the memory', declared }]
    : scopes;
};

/** The messages of earlier sessions. */
export const compareSessions: CompareCapability = ({ sessions: before }, { sessions: after }) => {
  if (after === undefined) return [];
  const declared = 'sessions.access';
  if (before === undefined) return [{ what: 'the messages of its session', declared }];
  const { owner } = after;
  if (owner === null || (before.owner !== null && isSameOwner(before.owner, owner))) return [];
  return [{ what: `the sessions of ${owner.scopeId}`, entry: owner.scopeId, declared }];
};

/** What is kept open beyond a call. */
export const compareService: CompareCapability = ({ service: before }, { service: after }) =>
  after === undefined || before !== undefined
    ? []
    : [{ what: 'what it keeps open beyond a call', declared: 'service' }];

/** Sub-agents. */
export const compareDelegation: CompareCapability = (
  { delegation: before },
  { delegation: after },
) => {
  if (after === undefined) return [];
  if (before === undefined) return [{ what: 'sub-agents', declared: 'delegation' }];
  return after.background && !before.background
    ? [{ what: 'sub-agents in the background', declared: 'delegation.background' }]
    : [];
};
