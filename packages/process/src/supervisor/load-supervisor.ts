import { loadOnce } from '../load-once.js';

/** What ends with the host what the host started. Most programs that import this package start none. */
export const loadSupervisor = loadOnce(async () => {
  const { openLimitMark } = await import('./limit-mark.js');
  await openLimitMark();
  return import('./supervisor.js');
});
