import { statSync } from 'node:fs';
import { isMcpToolName } from '@ethosagent/policy';
import { parseReachLock, reachLockPath, readLockText, type ToolRuntime } from '@ethosagent/wiring';
import type { LockView } from './inspect-api.js';

/**
 * The differences from the reach lock of the home. The inspector starts no MCP servers, so the
 * lock's entries for them are left out.
 *
 * @throws `CONFIG_INVALID` for a lock that can't be read
 */
export async function lockView(
  runtime: Pick<ToolRuntime, 'compareReach'>,
  { home, cwd }: { home: string; cwd: string },
): Promise<LockView> {
  const file = reachLockPath(home);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) {
    return { file, changes: [], isThere: false, leavesOut: false };
  }
  const lock = parseReachLock(readLockText(file), { home, cwd, file });
  const own = {
    ...lock,
    servers: [],
    personalities: lock.personalities.map((each) => ({
      ...each,
      servers: [],
      tools: each.tools.filter(({ tool }) => !isMcpToolName(tool)),
    })),
    texts: lock.texts.filter(({ tool }) => !isMcpToolName(tool)),
  };
  return {
    file,
    changes: [...(await runtime.compareReach(own))],
    isThere: true,
    leavesOut: lock.servers.length > 0,
  };
}
