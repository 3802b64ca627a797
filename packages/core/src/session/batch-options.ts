import {
  assertOptions,
  assertOptionValues,
  isAbortSignal,
  isAttachmentInfo,
  isBoolean,
  isFunction,
  isListOf,
  isObject,
  isOneOf,
  isString,
  isThenable,
  type OptionValues,
} from '@ethosagent/policy';
import { EthosError, type ToolBatchContext } from '@ethosagent/types';
import { NETWORK, soundPolicy } from '../policy-shape.js';
import type { SessionBatchOptions, SessionIdentity } from './session-api.js';

const TEXT = [isString, 'a text'] as const;

const IDENTITY: OptionValues<SessionIdentity> = {
  sessionKey: TEXT,
  platform: TEXT,
  agentId: TEXT,
  memoryScope: [isOneOf(['global', 'per-personality']), "'global' or 'per-personality'"],
  memoryScopeId: TEXT,
  userScopeId: TEXT,
  teamId: TEXT,
};

/** What the context of `executeParallel` takes as well. */
const BOTH = {
  ...IDENTITY,
  abortSignal: [isAbortSignal, 'an AbortSignal, as `signal` of an AbortController'],
  resultBudgetChars: [
    (value) => typeof value === 'number' && !Number.isNaN(value),
    'a number of characters',
  ],
  dryRun: [isBoolean, 'true or false'],
} satisfies OptionValues<SessionBatchOptions & SessionIdentity>;

const BATCH: OptionValues<SessionBatchOptions & SessionIdentity & { personality?: string }> = {
  ...BOTH,
  personality: TEXT,
  attachments: [
    isListOf(isAttachmentInfo),
    'a list of attachments, each with id, name, mediaType and sizeBytes',
  ],
  tools: [isListOf(isString), 'a list of names of tools'],
  onProgress: [isFunction, 'a function'],
  onResult: [isFunction, 'a function'],
};

/**
 * Refuses options of a batch whose values are of another kind. `dryRun: 'true'` would run the calls,
 * and a budget that is no number would limit nothing.
 *
 * @param of what takes the options, for the message
 * @param options those of a session or of a runtime; their names are checked elsewhere
 * @throws `CONFIG_INVALID` for the first option that does not fit
 */
export function assertBatchValues(of: string, options: object): void {
  assertOptionValues(of, options, BATCH);
}

const CONTEXT: OptionValues<ToolBatchContext> = { ...BOTH, sessionId: TEXT, personalityId: TEXT };

/**
 * Refuses a context of `executeParallel` whose values are of another kind, for the same reason.
 *
 * @param ctx what the calls of the batch have in common
 * @throws `CONFIG_INVALID` for the first value that does not fit
 */
export function assertBatchContext(ctx: ToolBatchContext): void {
  const of = 'the context of the batch';
  if (!isObject(ctx) || isThenable(ctx)) {
    throw new EthosError('CONFIG_INVALID', `${of}: give an object, after await`);
  }
  assertOptionValues(of, ctx, CONTEXT);
  if (ctx.networkPolicy !== undefined) soundPolicy('networkPolicy', ctx.networkPolicy, NETWORK);
}

/**
 * Refuses an identity that is no object, or has unknown parts or parts of another kind.
 *
 * @param identity the user, agent and team of a session
 * @throws `CONFIG_INVALID` for the first part that does not fit
 */
export function assertIdentity(identity: object): void {
  assertOptions('identity', identity, IDENTITY);
  assertOptionValues('identity', identity, IDENTITY);
}
