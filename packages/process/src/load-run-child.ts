import { loadOnce } from './load-once.js';

/** What starts children. Most programs that import this package start none. */
export const loadRunChild = loadOnce(() => import('./run-child.js'));
