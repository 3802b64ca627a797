import { loadOnce } from '../load-once.js';

/**
 * Loads the supervisor, at the first use. It ends the processes of this host when the host ends.
 * Most programs that import this package start none.
 */
export const loadSupervisor = loadOnce(async () => {
  const { openLimitMark } = await import('./limit-mark.js');
  await openLimitMark();
  return import('./supervisor.js');
});
