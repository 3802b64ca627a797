import { notAvailable, type Step } from './step.js';

/** Refuses the call if the policy requires a sandbox for processes and the machine has none. */
export const requireSandbox: Step = (state) => {
  const { entry, batch } = state;
  // A tool without capabilities needs no policy, and looking it up takes time.
  if (!entry.needsBackends) return undefined;
  const missing = entry.plan.missing({ ctx: batch.facts, policy: state.policy });
  return missing?.then((why) =>
    why === undefined ? undefined : notAvailable(why, 'SANDBOX_UNAVAILABLE'),
  );
};
