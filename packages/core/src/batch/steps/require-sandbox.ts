import { notAvailable, type Step } from './step.js';

/** Looks for what the policy wants and the machine may lack: the sandbox of processes. */
export const requireSandbox: Step = (state) => {
  const { entry, batch, policy } = state;
  const missing = entry.plan.missing({ ctx: batch.facts, policy });
  return missing?.then((why) => (why === undefined ? undefined : notAvailable(why)));
};
