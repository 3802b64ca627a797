import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';

/** What is kept open beyond a call, through `services`. */
export const service = defineCapability('service', {
  // A service outlives the call, and another call may have opened it.
  isNarrowable: false,
  shapeProblem: (declared) => {
    const { scope }: { scope?: unknown } = Object(declared);
    return scope === 'session' ? undefined : "service is not { scope: 'session' }";
  },
  compile: ({ scope }) => ({
    bind: ({ registry, accessors }) => {
      if (registry === undefined) return;
      accessors.services = { open: () => registry.openService() };
    },
    why: (_, { tool }) => ({ declared: declaredPart('service.scope', scope), policy: tool() }),
    describe: () => ({ service: { scope } }),
  }),
});
