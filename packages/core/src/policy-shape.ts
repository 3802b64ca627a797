import {
  discard,
  isBoolean,
  isFunction,
  isListOf,
  isObject,
  isOneOf,
  isString,
  isThenable,
  type OptionValues,
  unknownOption,
  wrongOption,
} from '@ethosagent/policy';
import {
  type ApprovalPolicy,
  type ArgumentPolicy,
  EthosError,
  type NetworkPolicy,
  type PersonalityConfig,
  type ProcessLimits,
  type ProcessPolicy,
  type QuotaLimits,
  type QuotaPolicy,
  type UntrustedPolicy,
} from '@ethosagent/types';
import type { PersonalityFsReach, PersonalityPolicy } from './backends.js';
import { misspeltName } from './misspelt-name.js';

type All<Options> = Required<OptionValues<Options>>;

/** What a part of a policy may hold. */
export interface PolicyShape {
  /** Its fields, with the kinds of their values. */
  readonly values: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>>;
  /** The shapes of the fields that are parts themselves. */
  readonly parts?: Readonly<Record<string, PolicyShape>>;
  /** The shape of each value, for a part with names of any kind. */
  readonly each?: PolicyShape;
  /** The part may have other fields, as long as they are no misspelt ones. */
  readonly isOpen?: true;
}

const TEXTS = [isListOf(isString), 'a list of texts'] as const;
const FLAG = [isBoolean, 'true or false'] as const;
const PART = [isObject, 'an object'] as const;
const FUNCTION = [isFunction, 'a function that answers at once'] as const;
const AMOUNT = [
  (value: unknown) => typeof value === 'number' && value >= 0,
  'a number from 0',
] as const;
const DECISION = [isOneOf(['ask', 'allow', 'deny']), "'ask', 'allow' or 'deny'"] as const;

const QUOTA: PolicyShape = {
  values: {
    requests: AMOUNT,
    bytes_in: AMOUNT,
    bytes_out: AMOUNT,
    process_seconds: AMOUNT,
    files_written: AMOUNT,
    store_bytes: AMOUNT,
  } satisfies All<QuotaLimits>,
};

/** The shape of a network policy, also of that of a turn. */
export const NETWORK: PolicyShape = {
  values: {
    allow: TEXTS,
    deny: TEXTS,
    allow_private_urls: FLAG,
    declared_only: FLAG,
  } satisfies All<NetworkPolicy>,
};

/** The shape of the policy for processes. */
export const PROCESS: PolicyShape = {
  values: {
    sandbox: [
      (value) => isBoolean(value) || value === 'required' || value === 'preferred',
      "true, false, 'required' or 'preferred'",
    ],
    limits: PART,
    arguments: PART,
  } satisfies All<ProcessPolicy>,
  parts: {
    limits: {
      values: {
        memory_mb: AMOUNT,
        processes: AMOUNT,
        cpu_seconds: AMOUNT,
        file_size_mb: AMOUNT,
        open_files: AMOUNT,
      } satisfies All<ProcessLimits>,
    },
    arguments: {
      values: {},
      each: {
        values: {
          allow: TEXTS,
          deny: TEXTS,
          allow_each: [isListOf(isListOf(isString)), 'a list of lists of texts'],
        } satisfies All<ArgumentPolicy>,
      },
    },
  },
};

/** The shape of quotas. */
export const QUOTAS: PolicyShape = {
  values: { per_call: PART, per_session: PART } satisfies All<QuotaPolicy>,
  parts: { per_call: QUOTA, per_session: QUOTA },
};

/** The shape of a reach. */
export const REACH: PolicyShape = {
  values: { read: TEXTS, write: TEXTS, deny: TEXTS, leads: PART } satisfies All<PersonalityFsReach>,
};

const SAFETY: PolicyShape = {
  values: {
    network: PART,
    secrets: [
      (value) =>
        isObject(value) && Object.values(value).every((ref) => isString(ref) || ref === false),
      'an object with the ref of a secret, or false, for each ref',
    ],
    process: PART,
    quotas: PART,
    untrusted: PART,
    approvals: PART,
  } satisfies All<NonNullable<PersonalityConfig['safety']>>,
  parts: {
    network: NETWORK,
    process: PROCESS,
    quotas: QUOTAS,
    untrusted: {
      values: {
        write: DECISION,
        send: DECISION,
        spawn: DECISION,
        trust: TEXTS,
      } satisfies All<UntrustedPolicy>,
    },
    approvals: {
      values: {
        grants: [
          isListOf(isOneOf(['session', 'arguments', 'tool'])),
          "a list of 'session', 'arguments' and 'tool'",
        ],
        sub_agents: [isOneOf(['inherit', 'none']), "'inherit' or 'none'"],
      } satisfies All<ApprovalPolicy>,
    },
  },
};

/** The shape of what a host says of a personality. It may also have fields of the host's own. */
export const PERSONALITY: PolicyShape = {
  values: {
    safety: PART,
    tool_settings: PART,
    fs_reach: PART,
    offers: FUNCTION,
    places: FUNCTION,
  } satisfies All<PersonalityPolicy>,
  parts: { safety: SAFETY, fs_reach: REACH },
  isOpen: true,
};

/**
 * What was found to be well-formed. Most hosts answer each call with the same objects, so each is checked
 * once, and not again if the host changes it.
 */
const sound = new WeakMap<object, PolicyShape>();

/**
 * Refuses a policy of another kind. A part that is not understood would not limit anything: a
 * promise of a policy has no sandbox and no quotas.
 *
 * @param of where the policy comes from, for the message
 * @param policy anything
 * @param shape what it may hold
 * @returns the policy
 * @throws `CONFIG_INVALID` for the first part that does not fit
 */
export function soundPolicy<T>(of: string, policy: T, shape: PolicyShape): T {
  const problem = policyProblem(of, policy, shape);
  if (problem !== undefined) throw new EthosError('CONFIG_INVALID', problem);
  return policy;
}

/**
 * As `soundPolicy`, for hosts that are allowed.
 *
 * @param of where the list comes from, for the message
 * @param hosts anything
 * @returns the list
 * @throws `CONFIG_INVALID` for what is no list of texts
 */
export function soundHosts(of: string, hosts: readonly string[]): readonly string[] {
  if (sound.get(hosts) !== NETWORK) {
    soundPolicy(of, { allow: hosts }, NETWORK);
    sound.set(hosts, NETWORK);
  }
  return hosts;
}

/** What is wrong with a policy, or with one of its parts. `at` is its place, for the message. */
function policyProblem(at: string, policy: unknown, shape: PolicyShape): string | undefined {
  if (isObject(policy) && sound.get(policy) === shape) return undefined;
  if (isThenable(policy)) {
    discard(policy);
    return `${at} is a promise; load it before, and answer at once`;
  }
  if (!isObject(policy)) return `${at} must be an object`;
  const problem = fieldProblem(policy, shape);
  if (problem !== undefined) return `${at}: ${problem}`;
  const { parts, each } = shape;
  for (const name of Object.keys(each === undefined ? Object(parts) : policy)) {
    const value = policy[name];
    const inner = each ?? parts?.[name];
    if (value === undefined || inner === undefined) continue;
    const wrong = policyProblem(`${at}.${name}`, value, inner);
    if (wrong !== undefined) return wrong;
  }
  sound.set(policy, shape);
  return undefined;
}

function fieldProblem(policy: object, { values, each, isOpen }: PolicyShape): string | undefined {
  if (each !== undefined) return undefined;
  const misspelt = isOpen ? misspeltName(policy, Object.keys(values)) : undefined;
  if (misspelt !== undefined)
    return `"${misspelt.given}" is no part of it; write "${misspelt.meant}"`;
  return (isOpen ? undefined : unknownOption(policy, values)) ?? wrongOption(policy, values);
}
