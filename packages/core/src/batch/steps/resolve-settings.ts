import { notAvailable, type Step } from './step.js';

/** What the personality sets for the tool. */
export const resolveSettings: Step = (state) => {
  const { settings } = state.entry;
  if (settings === undefined) return undefined;
  const resolved = settings.resolve(state.policy);
  if (!resolved.ok) return notAvailable(resolved.error);
  state.resolvedSettings = resolved;
  return undefined;
};
