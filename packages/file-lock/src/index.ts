export { isRunning, machine, ownStart } from './process-identity.js';
export type { LockAttempt, Rival } from './take-lock.js';
export { isLocked, tryLock } from './take-lock.js';
export { withFileLock } from './with-file-lock.js';
