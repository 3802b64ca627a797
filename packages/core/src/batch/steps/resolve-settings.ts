import { notAvailable, type Step } from './step.js';

/** Looks up the settings that the personality has for the tool. */
export const resolveSettings: Step = (state) => {
  const { settings } = state.entry;
  if (settings === undefined) return undefined;
  const resolved = settings.resolve(state.policy);
  if (!resolved.ok) {
    state.thrown = resolved.thrown;
    return notAvailable(resolved.error, 'CONFIG_INVALID');
  }
  state.resolvedSettings = resolved;
  return undefined;
};
