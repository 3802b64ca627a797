import { isSameOwner } from '@ethosagent/policy';
import { sessionOwner } from '../scoped/memory-scopes.js';
import { ScopedSessionsImpl } from '../scoped/scoped-sessions.js';
import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';
import { accessProblems } from './shapes.js';

/** The messages of earlier sessions, through `sessions`. */
export const sessions = defineCapability('sessions', {
  malformed: (declared) => accessProblems('sessions', declared, ['read']),
  compare: ({ sessions: before }, { sessions: after }) => {
    if (after === undefined) return [];
    const declared = 'sessions.access';
    if (before === undefined) return [{ what: 'the messages of its session', declared }];
    const { owner } = after;
    if (owner === null || (before.owner !== null && isSameOwner(before.owner, owner))) return [];
    return [{ what: `the sessions of ${owner.scopeId}`, entry: owner.scopeId, declared }];
  },
  compile: ({ access }, { backends }) => ({
    bind: ({ ctx, scope, accessors }) => {
      if (backends.sessions === undefined) return;
      accessors.sessions = new ScopedSessionsImpl(backends.sessions, {
        owner: sessionOwner(ctx),
        sessionId: ctx.sessionId,
        scope,
      });
    },
    why: (_, { tool }) => ({ declared: declaredPart('sessions.access', access), policy: tool() }),
    describe: ({ ctx }) => ({ sessions: { access, owner: sessionOwner(ctx) ?? null } }),
  }),
});
