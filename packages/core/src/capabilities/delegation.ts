import { ScopedDelegationImpl } from '../scoped/scoped-delegation.js';
import { defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';

/** Sub-agents, through `delegation`. */
export const delegation = defineCapability('delegation', {
  // A sub-agent has the reach of its personality.
  isNarrowable: false,
  shapeProblem: (declared) => {
    const { background }: { background?: unknown } = Object(declared);
    const isBoolean = background === undefined || typeof background === 'boolean';
    return typeof declared === 'object' && declared !== null && isBoolean
      ? undefined
      : 'delegation is not { background?: true or false }';
  },
  compile: ({ background }) => ({
    bind: ({ ctx, scope, registry, accessors }) => {
      if (registry?.delegation === undefined || scope === undefined) return;
      accessors.delegation = new ScopedDelegationImpl(registry.delegation, {
        sessionId: ctx.sessionId,
        personalityId: ctx.personalityId,
        toolCallId: registry.toolCallId,
        mayStart: background === true,
        scope,
      });
    },
    why: (_, { tool }) => ({
      declared: declaredPart('delegation.background', background === true),
      policy: tool(),
    }),
    describe: () => ({ delegation: { background: background === true } }),
  }),
});
