import { nearestName } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { ToolRuntimeOptions } from './runtime-api.js';

/** The type makes this list complete: an option that is missing here does not compile. */
const OF_RUNTIME: Readonly<Record<keyof ToolRuntimeOptions, true>> = {
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

/** The names of the options of `createToolRuntime`. */
export const RUNTIME_OPTIONS: readonly string[] = Object.keys(OF_RUNTIME);

/**
 * Refuses options with an unknown name, which only plain JavaScript can pass. A misspelt option that
 * was ignored could leave out a limit, such as `denyPaths`.
 *
 * @throws `CONFIG_INVALID` with the nearest known name
 */
export function assertKnownOptions(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const next = near === undefined ? 'leave it out' : `did you mean "${near}"?`;
  throw new EthosError('CONFIG_INVALID', `${unknown}: there is no such option; ${next}`);
}
