import { loadOnce } from './load-once.js';
import { loadSupervisor } from './supervisor/load-supervisor.js';

/** What starts children. Most programs that import this package start none. */
export const loadRunChild = loadOnce(async () => {
  // The supervisor must be loaded before the first process starts, since processes are marked from
  // their start.
  await loadSupervisor();
  return import('./run-child.js');
});
