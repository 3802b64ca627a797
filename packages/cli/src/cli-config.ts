import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type OptionNames, unknownOption } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { ToolRuntimeOptions } from '@ethosagent/wiring';
import { assertOwn } from './assert-own.js';
import { usageError } from './cli-error.js';

/**
 * The content of `<home>/ethos.config.mjs`: the options with which the agent's program creates its
 * runtime.
 */
export interface CliConfig
  extends Partial<Omit<ToolRuntimeOptions, 'home' | 'cwd' | 'sessionId' | 'approve'>> {}

/**
 * Types the default export of `<home>/ethos.config.mjs`. The file contains the tools, plugins and
 * stores of the agent, so that the command line uses the same ones as the agent's own program.
 *
 * @param config tools, plugins and stores
 * @returns the same object
 * @example
 * ```ts
 * import { defineConfig } from '@ethosagent/cli';
 *
 * export default defineConfig({ personality: 'coder', tools: ['read_file', 'terminal'] });
 * ```
 */
export function defineConfig(config: CliConfig): CliConfig {
  return config;
}

/** Also those that the command sets itself: the agent's program may use the same object. */
const OPTIONS: OptionNames<ToolRuntimeOptions> = {
  home: true,
  personality: true,
  tools: true,
  plugins: true,
  reducers: true,
  cwd: true,
  sessionId: true,
  stores: true,
  secrets: true,
  memory: true,
  sessions: true,
  audit: true,
  auditArguments: true,
  auditResults: true,
  auditDurations: true,
  auditBatch: true,
  mcp: true,
  approve: true,
  passEnv: true,
  env: true,
  sandbox: true,
  denyPaths: true,
  fetch: true,
  lookup: true,
  limits: true,
  images: true,
  imageScaler: true,
  lock: true,
  beforeCall: true,
  afterCall: true,
  onAccess: true,
  onError: true,
};

const FILES = ['ethos.config.mjs', 'ethos.config.js', 'ethos.config.ts'];
/** If one of these was ignored, what it says of tools, stores and the lock would not hold. */
const OTHER_FILES = ['json', 'yaml', 'yml', 'cjs', 'mts', 'cts'].map(
  (ending) => `ethos.config.${ending}`,
);

/**
 * Reads the configuration of a home. It is in the home because no tool may write there.
 *
 * @returns an empty one if there is no file
 * @throws `CONFIG_INVALID` with the name of the file, also of one with an ending that is not read
 */
export async function loadCliConfig(home: string): Promise<CliConfig> {
  const file = FILES.map((name) => join(home, name)).find(
    (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
  );
  if (file === undefined) {
    const other = [...FILES, ...OTHER_FILES].map((name) => join(home, name)).find(existsSync);
    if (other === undefined) return {};
    throw usageError(`${other} is not read; write the file ethos.config.mjs, .js or .ts`);
  }
  assertOwn(file, statSync(file));
  let loaded: { default?: unknown };
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (cause) {
    if (cause instanceof EthosError) throw cause;
    const isUnknown =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_FILE_EXTENSION';
    const why = cause instanceof Error ? cause.message : String(cause);
    const lacking = missingPackage(cause);
    if (lacking !== undefined)
      throw usageError(`${file} needs ${lacking}, which is not installed; npm install ${lacking}`);
    throw usageError(
      isUnknown
        ? `${file}: this version of Node does not run TypeScript; use Node 22.18 or newer, or write ethos.config.mjs`
        : `${file} can not be loaded: ${why}${placeOf(cause)}`,
    );
  }
  const config = await loaded.default;
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw usageError(`${file} has no default export that is an object; export defineConfig({ … })`);
  }
  if ('home' in config) {
    throw usageError(`${file} is in the home, which the key "home" can not change; give --home`);
  }
  const unknown = unknownOption(config, OPTIONS);
  if (unknown !== undefined) throw usageError(`${file}: ${unknown}`);
  if ('personality' in config && !['string', 'undefined'].includes(typeof config.personality)) {
    throw usageError(`${file}: personality is not a text; give the id of a personality`);
  }
  return config;
}

/** Where the operator's code failed, which may be in a file that the configuration imports. */
function placeOf(error: unknown): string {
  const { stack = '' } = error instanceof Error ? error : {};
  for (const line of stack.split('\n')) {
    const [, url = '', at] = /(file:\/\/\S+?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [];
    if (at !== undefined && !url.includes('/node_modules/')) {
      return ` (${fileURLToPath(url)}:${at})`;
    }
  }
  // Node tells the line of a syntax error only where the error ends the process.
  return error instanceof SyntaxError ? '; to see the line, run the file with node' : '';
}

/** The package that an import did not find; `undefined` if a file is missing. */
function missingPackage(error: unknown): string | undefined {
  const isMissing =
    error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  // Node gives the name only in its message.
  return isMissing
    ? /^Cannot find package '((?:@[^/']+\/)?[^/']+)/.exec(error.message)?.[1]
    : undefined;
}
