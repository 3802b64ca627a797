export type { KeyValueBackend } from './kv-suite.js';
export { keyValueConformance } from './kv-suite.js';
export type { StorageUnderTest } from './storage-suite.js';
export { storageConformance } from './storage-suite.js';
