import { autostart } from './autostart.js';
import { fetchAndRun, unreadCode } from './code.js';
import { connections } from './connections.js';
import { container } from './containers.js';
import { databases } from './databases.js';
import { blockDevices } from './devices.js';
import { environment } from './environment.js';
import { gitForcePush, gitHistory, gitUncommitted, gitUnknown } from './git.js';
import { keys } from './keys.js';
import { publishing } from './publishing.js';
import { remote } from './remote.js';
import { recursiveOwnership, recursiveRemoval } from './removal.js';
import type { BuiltInRule } from './rule.js';
import { secretFiles } from './secrets.js';
import { startupFiles } from './startup.js';
import { killAll, machine, privilege, shutdown } from './system.js';

/** The built-in rules about single commands. */
export const BUILT_IN_RULES: readonly BuiltInRule[] = [
  recursiveRemoval,
  recursiveOwnership,
  blockDevices,
  startupFiles,
  secretFiles,
  fetchAndRun,
  unreadCode,
  gitForcePush,
  gitHistory,
  gitUncommitted,
  gitUnknown,
  shutdown,
  killAll,
  privilege,
  machine,
  container,
  databases,
  keys,
  publishing,
  remote,
  connections,
  autostart,
  environment,
];
