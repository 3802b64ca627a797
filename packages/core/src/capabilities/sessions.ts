import { sessionOwner } from '../scoped/memory-scopes.js';
import { ScopedSessionsImpl } from '../scoped/scoped-sessions.js';
import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';
import { accessProblems } from './shapes.js';

/** The messages of earlier sessions, through `sessions`. */
export const sessions = defineCapability('sessions', {
  malformed: (declared) => accessProblems('sessions', declared, ['read']),
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
