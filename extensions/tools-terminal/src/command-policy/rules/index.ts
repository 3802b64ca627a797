import { fetchAndRun, unreadCode } from './code.js';
import { blockDevices } from './devices.js';
import { environment } from './environment.js';
import { gitForcePush, gitHistory, gitUncommitted, gitUnknown } from './git.js';
import { recursiveOwnership, recursiveRemoval } from './removal.js';
import type { BuiltInRule } from './rule.js';
import { startupFiles } from './startup.js';
import { container, killAll, machine, privilege, publishing, remote, shutdown } from './system.js';

/** The built-in rules about single commands. */
export const BUILT_IN_RULES: readonly BuiltInRule[] = [
  recursiveRemoval,
  recursiveOwnership,
  blockDevices,
  startupFiles,
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
  publishing,
  remote,
  environment,
];
