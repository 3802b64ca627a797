import { loadOnce } from './load-once.js';
import { loadSupervisor } from './supervisor/load-supervisor.js';

/**
 * Loads the module that starts children, at the first use. Most programs that import this package
 * start no children.
 */
export const loadRunChild = loadOnce(async () => {
  // The supervisor must be loaded before the first process starts, since processes are marked from
  // their start.
  await loadSupervisor();
  return import('./run-child.js');
});
