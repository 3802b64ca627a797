import type { TurnGate, TurnHost } from '../turn-host.js';

/**
 * A host that asks both hosts: it refuses what one of them refuses, and asks for approval if one of
 * them does.
 */
export function joinHosts(host: TurnHost | undefined, session: TurnHost): TurnHost {
  if (host === undefined) return session;
  const { delegation, quotaSession, beforeRun } = host;
  // Only the tool that makes a call hears about that call.
  const isInner = session.parentCallId !== undefined;
  return {
    ...session,
    ...(delegation !== undefined && { delegation }),
    ...(quotaSession !== undefined && { quotaSession }),
    isTainted: session.isTainted === true || host.isTainted === true,
    gate: (call) => joinGates(host.gate?.(call), session.gate?.(call)),
    ...(beforeRun !== undefined && {
      beforeRun: async (call) => {
        await host.beforeRun?.(call);
        await session.beforeRun?.(call);
      },
    }),
    onProgress: (event, toolCallId) => {
      if (!isInner) host.onProgress?.(event, toolCallId);
      session.onProgress?.(event, toolCallId);
    },
    onResult: (result, facts) => {
      session.onResult?.(result, facts);
      if (!isInner) host.onResult?.(result, facts);
    },
  };
}

function joinGates(one: TurnGate | undefined, other: TurnGate | undefined): TurnGate | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if ('refuse' in one) return one;
  return 'refuse' in other ? other : { ask: `${one.ask}; ${other.ask}` };
}
