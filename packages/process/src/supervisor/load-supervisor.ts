import { loadOnce } from '../load-once.js';

/** What ends with the host what the host started. Most programs that import this package start none. */
export const loadSupervisor = loadOnce(() => import('./supervisor.js'));
