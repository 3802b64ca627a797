import { loadOnce } from '../../load-once.js';
import type { Sandbox } from '../sandbox.js';

// Loaded at its first use: most programs that import this package use no sandbox.
const loadBubblewrap = loadOnce(() => import('./bubblewrap.js'));

/** Runs commands in sandboxes by bubblewrap. Works on Linux only. */
export const bubblewrapSandbox: Sandbox = {
  remedy: 'install bubblewrap and permit user namespaces',
  async isAvailable(path) {
    const { findBubblewrap } = await loadBubblewrap();
    return findBubblewrap(path) !== undefined;
  },
  async wrap(command, options) {
    const { wrapByBubblewrap } = await loadBubblewrap();
    return wrapByBubblewrap(command, options);
  },
};
