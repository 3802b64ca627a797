import { loadOnce } from './load-once.js';
import { loadSupervisor } from './supervisor/load-supervisor.js';

/** What starts children. Most programs that import this package start none. */
export const loadRunChild = loadOnce(async () => {
  // A process is marked from its beginning.
  await loadSupervisor();
  return import('./run-child.js');
});
