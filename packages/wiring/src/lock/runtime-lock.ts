import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { RuntimeMcp } from '../mcp.js';
import { personalityConfigPath } from '../personality-file.js';
import type { ToolRuntime } from '../runtime-api.js';
import { compareReachLocks } from './compare-locks.js';
import type { LockChange } from './lock-change.js';
import { createChangePlacer } from './place-change.js';
import type { LockPlaces } from './portable-lock.js';
import type { ReachLock } from './reach-lock.js';
import { type GivenTool, takeLock } from './take-lock.js';

/** The state of a runtime from which its locks are taken. */
export interface RuntimeLockParts {
  readonly places: LockPlaces;
  readonly environment: readonly string[];
  readonly mcp: () => RuntimeMcp | undefined;
  /** The ids of the personalities of the home. */
  readonly ids: () => Promise<string[]>;
  /** The config of a personality after its MCP servers have started, as far as they can. */
  readonly ready: (id: string) => Promise<PersonalityConfig>;
  readonly given: (config: PersonalityConfig) => readonly GivenTool[];
  readonly tool: ToolRuntime['tool'];
}

/** Takes a lock of the present state. @throws `CONFIG_INVALID`, `TOOL_UNAVAILABLE` */
export async function takeRuntimeLock(
  parts: RuntimeLockParts,
  only?: readonly string[],
): Promise<ReachLock> {
  const { places, environment, mcp } = parts;
  const personalities: { config: PersonalityConfig; tools: readonly GivenTool[] }[] = [];
  for (const id of only ?? (await parts.ids())) {
    const config = await parts.ready(id);
    assertServersAreReady(mcp(), id);
    personalities.push({ config, tools: parts.given(config) });
  }
  const servers = (await mcp()?.identities?.()) ?? [];
  return takeLock({ places, environment, personalities, servers });
}

/** Compares a lock with the present state. @throws as `takeRuntimeLock` */
export async function compareRuntimeReach(
  parts: RuntimeLockParts,
  lock: ReachLock,
  only?: readonly string[],
): Promise<LockChange[]> {
  const now = await takeRuntimeLock(parts, only);
  const before =
    only === undefined
      ? lock
      : {
          ...lock,
          personalities: lock.personalities.filter((each) => only.includes(each.personality)),
        };
  const { home } = parts.places;
  const known = new Set(now.personalities.map(({ personality }) => personality));
  const placeChange = createChangePlacer();
  return Promise.all(
    compareReachLocks(before, now).map(async (change) => {
      const { personality: id } = change;
      if (id === undefined || !known.has(id)) return change;
      const tool = change.tool === undefined ? undefined : parts.tool(change.tool);
      const config = await parts.ready(id);
      return placeChange(change, { file: personalityConfigPath(home, id), config, tool });
    }),
  );
}

function assertServersAreReady(mcp: RuntimeMcp | undefined, id: string): void {
  const waiting = mcp
    ?.status()
    .find(({ personality, state }) => personality === id && state !== 'ready');
  if (waiting === undefined) return;
  const { server, state, reason } = waiting;
  throw new EthosError(
    'TOOL_UNAVAILABLE',
    `the MCP server ${server} is ${state}${reason === undefined ? '' : ` (${reason})`}, so nobody knows what its tools are; "ethosagent mcp status" says more`,
  );
}
