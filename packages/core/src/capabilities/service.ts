import { defineCapability } from './capability-module.js';

/** What is kept open beyond a call, through `services`. */
export const service = defineCapability('service', {
  shapeProblem: (declared) => {
    const { scope }: { scope?: unknown } = Object(declared);
    return scope === 'session' ? undefined : "service is not { scope: 'session' }";
  },
  compile: ({ scope }) => ({
    bind: ({ registry, accessors }) => {
      if (registry === undefined) return;
      accessors.services = { open: () => registry.openService() };
    },
    describe: () => ({ service: { scope } }),
  }),
});
