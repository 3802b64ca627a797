import { notAvailable, type Step } from './step.js';

/** Looks for what the policy wants and the machine may lack: the sandbox of processes. */
export const requireSandbox: Step = (state) => {
  const { entry, batch } = state;
  // A tool without capabilities pays nothing for the policy.
  if (!entry.needsBackends) return undefined;
  const missing = entry.plan.missing({ ctx: batch.facts, policy: state.policy });
  return missing?.then((why) =>
    why === undefined ? undefined : notAvailable(why, 'SANDBOX_UNAVAILABLE'),
  );
};
