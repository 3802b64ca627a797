import {
  assertOptions,
  isAbortSignal,
  isAttachmentInfo,
  isBoolean,
  isFunction,
  isListOf,
  isOneOf,
  isString,
  type OptionValues,
  wrongOption,
} from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
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

const BATCH: OptionValues<SessionBatchOptions & SessionIdentity & { personality?: string }> = {
  ...IDENTITY,
  personality: TEXT,
  abortSignal: [isAbortSignal, 'an AbortSignal, as `signal` of an AbortController'],
  attachments: [
    isListOf(isAttachmentInfo),
    'a list of attachments, each with id, name, mediaType and sizeBytes',
  ],
  resultBudgetChars: [
    (value) => typeof value === 'number' && !Number.isNaN(value),
    'a number of characters',
  ],
  dryRun: [isBoolean, 'true or false'],
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
  assertFits(of, wrongOption(options, BATCH));
}

/**
 * Refuses an identity that is no object, or has unknown parts or parts of another kind.
 *
 * @param identity the user, agent and team of a session
 * @throws `CONFIG_INVALID` for the first part that does not fit
 */
export function assertIdentity(identity: object): void {
  assertOptions('identity', identity, IDENTITY);
  assertFits('identity', wrongOption(identity, IDENTITY));
}

function assertFits(of: string, problem: string | undefined): void {
  if (problem !== undefined) throw new EthosError('CONFIG_INVALID', `${of}: ${problem}`);
}
