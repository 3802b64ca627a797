import { notAvailable, type Step } from './step.js';

/** Refuses the call if the policy requires a sandbox for processes and the machine has none. */
export const requireSandbox: Step = (state) => {
  const { entry, batch } = state;
  // Looking the policy up takes time.
  if (!entry.plan.mayMiss) return undefined;
  const missing = entry.plan.missing({ ctx: batch.facts, policy: state.policy });
  return missing?.then((why) =>
    why === undefined ? undefined : notAvailable(why, 'SANDBOX_UNAVAILABLE'),
  );
};
