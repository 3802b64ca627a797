import type { SessionReads } from '@ethosagent/policy';
import type { PersonalityConfig, Storage, ToolBatchContext } from '@ethosagent/types';
import type { ExecuteOptions } from './runtime-api.js';

/** The runtime's part of the context of a batch. */
export interface BatchContextParts {
  readonly config: PersonalityConfig;
  readonly cwd: string;
  /** The session of calls that name none. */
  readonly sessionId: string;
  readonly storage: Storage;
  readonly reads: SessionReads;
  readonly abortSignal: AbortSignal;
}

/** Combines the context of a batch from the runtime and the batch's own options. */
export function createBatchContext(
  parts: BatchContextParts,
  options: ExecuteOptions,
): ToolBatchContext {
  const { config } = parts;
  const sessionId = options.sessionId ?? parts.sessionId;
  return {
    sessionId,
    sessionKey: options.sessionKey ?? sessionId,
    platform: options.platform ?? 'api',
    workingDir: parts.cwd,
    personalityId: config.id,
    currentTurn: options.currentTurn ?? 1,
    messageCount: options.messageCount ?? 0,
    abortSignal: parts.abortSignal,
    emit: options.emit ?? (() => {}),
    storage: parts.storage,
    readMtimes: parts.reads.of(sessionId),
    ...networkOf(config),
    ...pick(options, ['agentId', 'memoryScope', 'memoryScopeId', 'userScopeId', 'teamId']),
    ...(options.resultBudgetChars !== undefined && {
      resultBudgetChars: options.resultBudgetChars,
    }),
    ...(options.dryRun !== undefined && { dryRun: options.dryRun }),
  };
}

export function networkOf({ safety }: PersonalityConfig) {
  return safety?.network === undefined ? {} : { networkPolicy: safety.network };
}

/** The properties that have a value. */
function pick<T extends object, K extends keyof T>(source: T, keys: readonly K[]): Pick<T, K> {
  const picked = keys.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]]));
  return Object.fromEntries(picked);
}
