export { ScopedAttachmentsImpl, type ScopedAttachmentsOptions } from './scoped-attachments.js';
export { ScopedFetchImpl, type ScopedFetchOptions } from './scoped-fetch.js';
export { ScopedFsImpl, type ScopedFsOptions, type ScopedFsStorage } from './scoped-fs.js';
export { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';
export { ScopedSecretsImpl, type ScopedSecretsOptions } from './scoped-secrets.js';
