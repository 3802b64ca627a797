import { isAbsolute } from 'node:path';
import { type AnyTool, EthosError, type PersonalityConfig } from '@ethosagent/types';
import { openAudit } from './audit-log.js';
import { runtimeDenyPaths } from './deny-paths.js';
import { openLock } from './lock/open-lock.js';
import { personalityConfigPath } from './personality-file.js';
import { personalityReach } from './personality-reach.js';
import { createPersonalityStore } from './personality-store.js';
import { findProblems } from './problems.js';
import { Runtime } from './runtime.js';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { withOtherProblems } from './sound-keys.js';
import { givenStores } from './stores/given-stores.js';
import { openStores } from './stores/open-stores.js';
import { OpenedResources } from './stores/opened-resources.js';
import { pickTools } from './tools-by-name.js';

/**
 * The composition root: reads a personality from disk, binds stores, network, process environment
 * and audit, and registers the tools. State is in the home, except for the stores that the host gives.
 * @throws `CONFIG_INVALID` naming the file and the key, or the audit log that can't be opened;
 * `TOOL_INVALID`, `TOOL_NAME_TAKEN`, `STORE_CORRUPT`, `STORE_NEWER`, `STORE_UNAVAILABLE`;
 * `REACH_WIDENED` where a tool may touch more than the lock says
 */
export async function createToolRuntime(options: ToolRuntimeOptions): Promise<ToolRuntime> {
  const { home, cwd = process.cwd() } = options;
  assertOptions({ cwd, tools: options.tools });
  const given = givenStores(options);
  const picked = await pickTools(options.tools ?? []);
  const personalities = createPersonalityStore({ home, cwd });
  const first = await personalities.get(options.personality).catch((error: unknown) => {
    throw withOtherProblems(error, (config) => problemsBeforeStart(config, options, picked.tools));
  });
  personalityReach(home, first, (id) => personalities.peek(id));
  const lock = await openLock({ home, cwd, lock: options.lock, personalities });
  const opened = new OpenedResources();
  try {
    const stores = await openStores(home, given, opened);
    const { sink: audit, problems: auditProblems } = await openAudit(options, opened);
    const denyPaths = runtimeDenyPaths(home, options.denyPaths);
    const runtime = new Runtime({
      options,
      picked,
      cwd,
      personalities,
      stores,
      hasOwnSecrets: given.secrets === undefined,
      audit,
      auditProblems,
      denyPaths,
      lock,
      opened,
    });
    await runtime.start();
    return runtime;
  } catch (error) {
    // What went wrong first is what the host has to know.
    await opened.close().catch(() => {});
    throw error;
  }
}

/** What can be told before plugins are there: an unknown name may be that of what one of them brings. */
function problemsBeforeStart(
  config: PersonalityConfig,
  { home, plugins = [] }: ToolRuntimeOptions,
  tools: readonly AnyTool[],
): RuntimeProblem[] {
  if (plugins.length > 0) return [];
  return findProblems(config, {
    file: personalityConfigPath(home, config.id),
    tools,
    plugins: [],
  }).filter(({ key }) => key !== 'plugins');
}

/** What plain JavaScript may give. @throws `CONFIG_INVALID` */
function assertOptions({ cwd, tools }: { cwd: unknown; tools: unknown }): void {
  if (tools !== undefined && !Array.isArray(tools)) {
    throw new EthosError(
      'CONFIG_INVALID',
      'tools is not a list; give tools, or their names, in []',
    );
  }
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
    throw new EthosError('CONFIG_INVALID', `cwd: ${String(cwd)} is not an absolute path`);
  }
}
