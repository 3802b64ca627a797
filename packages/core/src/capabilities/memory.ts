import { memoryScopes } from '../scoped/memory-scopes.js';
import { ScopedMemoryImpl } from '../scoped/scoped-memory.js';
import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';
import { accessProblems } from './shapes.js';

/** What is remembered beyond a session, through `memory`. */
export const memory = defineCapability('memory', {
  malformed: (declared) => accessProblems('memory', declared, ['read', 'read-write']),
  compile: ({ access }, { backends }) => ({
    bind: ({ ctx, scope, accessors }) => {
      if (backends.memory === undefined) return;
      const options = { access, scope };
      accessors.memory = new ScopedMemoryImpl(backends.memory, memoryScopes(ctx), options);
    },
    why: (_, { tool }) => ({ declared: declaredPart('memory.access', access), policy: tool() }),
    describe: ({ ctx }) => ({
      memory: { access, scopes: [...new Set(memoryScopes(ctx).values())] },
    }),
  }),
});
