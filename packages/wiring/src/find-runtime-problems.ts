import { type CapabilityBackends, supervisorProblem } from '@ethosagent/core';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import type { McpServers } from './mcp-servers.js';
import { missingRootProblems } from './missing-roots.js';
import { ownCodeProblems } from './own-code-problems.js';
import type { PersonalityConfigs } from './personality-configs.js';
import { personalityConfigPath } from './personality-file.js';
import type { PersonalityProblems } from './personality-problems.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { findSandboxProblems } from './sandbox-problems.js';
import { findSchemaProblems } from './schema-problems.js';
import { findSecretProblems } from './secret-problems.js';
import type { OpenStores } from './stores/open-stores.js';
import { writableFileProblems } from './writable-files.js';

/** The parts of a runtime that may have problems. */
export interface RuntimeProblemSources {
  readonly home: string;
  readonly tools: readonly AnyTool[];
  readonly backends: CapabilityBackends;
  readonly personalities: PersonalityConfigs;
  readonly problems: PersonalityProblems;
  readonly servers: McpServers;
  readonly stores: OpenStores;
  /** Whether the secrets are those of the home. */
  readonly hasOwnSecrets: boolean;
  readonly auditProblems: readonly string[];
}

/** The problems of a personality: with its file, its servers, its stores, or the machine. */
export async function findRuntimeProblems(
  config: PersonalityConfig,
  sources: RuntimeProblemSources,
): Promise<RuntimeProblem[]> {
  const { home, tools, backends, personalities, problems, servers, stores } = sources;
  const ids = personalities.partsOf(config).map(({ id }) => id);
  const ofStores = await stores.problems();
  const ofProcesses = supervisorProblem();
  const file = personalityConfigPath(home, ids.at(-1) ?? config.id);
  const ofSandbox = await findSandboxProblems(config, { file, tools, backends });
  const ofSecrets = sources.hasOwnSecrets
    ? await findSecretProblems(config, { home, file, tools })
    : [];
  return [
    ...problems.of(config),
    ...missingRootProblems(config, { file, home }),
    ...writableFileProblems(home, ids),
    ...ownCodeProblems(config, { file, reach: personalities.reachOf(config), tools }),
    ...ofSandbox,
    ...ofSecrets,
    ...(await findSchemaProblems(config, tools)),
    ...servers.problems(config.id),
    ...ofStores.map(({ store, message }) => problemOf(store, `${store}: ${message}`)),
    ...sources.auditProblems.map((message) => problemOf('audit', message)),
    ...(ofProcesses === undefined ? [] : [problemOf('process', ofProcesses)]),
  ];
}

/** A problem that belongs to no file and no tool. */
function problemOf(key: string, message: string): RuntimeProblem {
  return { file: '', key, tool: '', message, heldBack: false };
}
