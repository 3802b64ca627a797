import { isAbsolute } from 'node:path';
import { resolveImageLimits } from '@ethosagent/core';
import { type AnyTool, EthosError, type PersonalityConfig } from '@ethosagent/types';
import { openAudit } from './audit-log.js';
import { runtimeDenyPaths } from './deny-paths.js';
import { imageScalerOf } from './installed-scaler.js';
import { assertKnownOptions, RUNTIME_OPTIONS } from './known-options.js';
import { openLock } from './lock/open-lock.js';
import { assertHome, existingPersonalities, personalityConfigPath } from './personality-file.js';
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
 * Creates a runtime, for hosts that bring their own agent loop. It reads a personality from disk,
 * connects stores, network, processes and audit, and registers the tools. Its state is in the home,
 * except for the stores that the host passes.
 *
 * @param options the home, the personality, and the tools by name or as objects
 * @returns the runtime; call `close` at the end
 * @throws `CONFIG_INVALID` for an invalid file, with the file and the key, or if the audit log
 * can't be opened
 * @throws `TOOL_INVALID` for a malformed tool, `TOOL_NAME_TAKEN` for a second tool with the same
 * name
 * @throws `STORE_CORRUPT`, `STORE_NEWER` or `STORE_UNAVAILABLE` if a store can't be opened
 * @throws `REACH_WIDENED` if a tool may touch more than the lock says
 *
 * @example
 * ```ts
 * const runtime = await createToolRuntime({
 *   home: '/var/lib/agent/.ethos',
 *   personality: 'assistant',
 *   tools: ['read_file'],
 * });
 * const session = runtime.session('first');
 * ```
 */
export async function createToolRuntime(options: ToolRuntimeOptions): Promise<ToolRuntime> {
  assertKnownOptions(options, RUNTIME_OPTIONS);
  return openToolRuntime(options);
}

/** Creates a runtime from options whose names were checked. It ignores those of an agent. */
export async function openToolRuntime(options: ToolRuntimeOptions): Promise<ToolRuntime> {
  const { home, cwd = process.cwd() } = options;
  assertOptions({ ...options, cwd });
  const given = givenStores(options);
  resolveImageLimits(options.images);
  const imageScaler = await imageScalerOf(options.imageScaler);
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
      imageScaler,
      lock,
      opened,
    });
    await runtime.start();
    return runtime;
  } catch (error) {
    // The host must learn the first error, not one of closing.
    await opened.close().catch(() => {});
    throw error;
  }
}

/** What can be reported before plugins are loaded. An unknown name may belong to a plugin. */
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

/** Plain JavaScript may pass anything. @throws `CONFIG_INVALID` */
function assertOptions({ home, personality, cwd, tools }: ToolRuntimeOptions): void {
  assertHome(home);
  if (typeof personality !== 'string') {
    const found = personality === undefined ? 'the option is missing' : 'it is not a text';
    const { told } = existingPersonalities(home, '');
    throw new EthosError(
      'CONFIG_INVALID',
      `personality: ${found}; give the id of a personality; ${told}`,
    );
  }
  if (tools !== undefined && !Array.isArray(tools)) {
    throw new EthosError(
      'CONFIG_INVALID',
      'tools is not a list; give tools, or their names, in []',
    );
  }
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
    throw new EthosError(
      'CONFIG_INVALID',
      `cwd: ${String(cwd)} is not an absolute path; give one, such as process.cwd()`,
    );
  }
}
