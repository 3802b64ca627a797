import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { resolveImageLimits } from '@ethosagent/core';
import {
  isBoolean,
  isFunction,
  isListOf,
  isObject,
  isString,
  type OptionValues,
  wrongOption,
} from '@ethosagent/policy';
import { type AnyTool, EthosError, type PersonalityConfig } from '@ethosagent/types';
import { assertApprove, assertSessionId } from './assert-session.js';
import { openAudit } from './audit-log.js';
import { runtimeDenyPaths } from './deny-paths.js';
import { imageScalerOf } from './installed-scaler.js';
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
 * Creates a runtime from options whose names were checked. It ignores those of an agent.
 *
 * @param cwd that of the options, or else the working directory of the host when it asked
 */
export async function openToolRuntime(
  options: ToolRuntimeOptions,
  cwd: string,
): Promise<ToolRuntime> {
  const { home } = options;
  assertValues({ ...options, cwd });
  await assertFolder(cwd);
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

const LISTS = [
  ['tools', 'tools, or their names,'],
  ['plugins', 'plugins'],
] as const satisfies readonly (readonly [keyof ToolRuntimeOptions, string])[];

const SWITCH = [isBoolean, 'true or false'] as const;
const FUNCTION = [isFunction, 'a function'] as const;
const isReducer = (value: unknown) =>
  isString(Object(value).toolName) && isFunction(Object(value).reduce);

const VALUES: OptionValues<ToolRuntimeOptions> = {
  reducers: [
    (value) => Array.isArray(value) && value.every(isReducer),
    'a list of reducers, each with toolName and reduce',
  ],
  auditArguments: SWITCH,
  auditResults: SWITCH,
  auditDurations: SWITCH,
  auditBatch: SWITCH,
  passEnv: [isListOf(isString), 'a list of names of variables'],
  env: [isObject, 'an object with the variables, such as process.env'],
  sandbox: [isObject, 'a sandbox; or leave it out for bubblewrap'],
  denyPaths: [isListOf(isString), 'a list of absolute paths'],
  fetch: FUNCTION,
  lookup: FUNCTION,
  limits: [isObject, 'an object'],
};

/** @throws `CONFIG_INVALID` */
function assertAudit(audit: unknown): void {
  if (audit === undefined) return;
  const sinks: readonly unknown[] = Array.isArray(audit) ? audit : [audit];
  if (sinks.every((sink) => typeof Object(sink).record === 'function')) return;
  throw new EthosError(
    'CONFIG_INVALID',
    'audit is no sink with `record`; give one, or a list of sinks, or leave it out for the log of the home',
  );
}

/** The first tool that writes would make a misspelt folder. @throws `CONFIG_INVALID` */
async function assertFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new EthosError('CONFIG_INVALID', `cwd: there is no folder ${cwd}; make it, or correct cwd`);
}

/** Plain JavaScript may pass anything. @throws `CONFIG_INVALID` */
function assertValues(given: ToolRuntimeOptions): void {
  const { home, personality, cwd, approve, sessionId } = given;
  assertHome(home);
  assertApprove(approve);
  if (sessionId !== undefined) assertSessionId(sessionId);
  if (typeof personality !== 'string') {
    const found = personality === undefined ? 'the option is missing' : 'it is not a text';
    const { told } = existingPersonalities(home, '');
    throw new EthosError(
      'CONFIG_INVALID',
      `personality: ${found}; give the id of a personality; ${told}`,
    );
  }
  for (const [name, hint] of LISTS) {
    if (given[name] === undefined || Array.isArray(given[name])) continue;
    throw new EthosError('CONFIG_INVALID', `${name} is not a list; give ${hint} in []`);
  }
  const problem = wrongOption(given, VALUES);
  if (problem !== undefined) throw new EthosError('CONFIG_INVALID', problem);
  assertAudit(given.audit);
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
    throw new EthosError(
      'CONFIG_INVALID',
      `cwd: ${String(cwd)} is not an absolute path; give one, such as process.cwd()`,
    );
  }
}
