import { attachments } from './attachments.js';
import { calls } from './calls.js';
import type { CapabilityModule } from './capability-module.js';
import { delegation } from './delegation.js';
import { fsReach } from './fs-reach.js';
import { memory } from './memory.js';
import { network } from './network.js';
import { processes } from './process.js';
import { secrets } from './secrets.js';
import { service } from './service.js';
import { sessions } from './sessions.js';
import { storage } from './storage.js';

/** All capabilities. Each is bound after the ones whose accessors it uses. */
export const CAPABILITY_MODULES: readonly CapabilityModule[] = [
  secrets,
  network,
  storage,
  fsReach,
  processes,
  attachments,
  memory,
  sessions,
  service,
  delegation,
  calls,
];
