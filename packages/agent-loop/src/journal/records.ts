import {
  type Check,
  isAmount,
  isAnything,
  isBoolean,
  isCount,
  isListOf,
  isObject,
  isOneOf,
  isShape,
  isString,
  isTrue,
} from '@ethosagent/policy';
import type { NewSessionMessage, ToolErrorCode } from '@ethosagent/types';
import type { ProviderMetadata } from 'ai';
import type { TurnEnd } from '../api.js';

/** The version of what `data` of a message holds. */
const VERSION = 1;

const isMetadata: Check<ProviderMetadata> = (value): value is ProviderMetadata =>
  isObject(value) && Object.values(value).every(isObject);
const CODES: readonly ToolErrorCode[] = [
  'input_invalid',
  'not_available',
  'execution_failed',
  'STALE_WRITE',
];
const isCode = isOneOf(CODES);
const ENDS = [
  'answered',
  'aborted',
  'max_steps',
  'max_calls',
  'identical_calls',
  'max_tokens',
  'max_cost',
  'max_time',
  'context_full',
] as const satisfies readonly TurnEnd[];

const isUsage = isShape(
  {
    inputTokens: isAmount,
    cachedInputTokens: isAmount,
    outputTokens: isAmount,
    costUsd: isAmount,
  },
  { cacheWriteInputTokens: isAmount },
);
const isSummary = isShape(
  {
    /** The last step that it holds; 0 for the message of a user. */
    upTo: isShape({ turn: isCount, step: isCount }),
    text: isString,
    /** SHA-256 of the messages that were summed up, as JSON, in base64url. */
    digest: isString,
    usage: isUsage,
  },
  { marked: isTrue },
);
const isImage = isShape({ mediaType: isString, data: isString });
export const isAttachment = isShape({
  id: isString,
  name: isString,
  mediaType: isString,
  sizeBytes: isAmount,
});
/** What the model said, or thought. */
export interface StepText {
  type: 'text' | 'reasoning';
  text: string;
  metadata?: ProviderMetadata;
}

/** A call of a step. */
export interface StepCall {
  type: 'call';
  id: string;
  name: string;
  input: Record<string, unknown>;
  metadata?: ProviderMetadata;
  /** Why it can not be run: the model is told, and nothing runs. */
  problem?: { code: ToolErrorCode; error: string };
}

export type StepPart = StepText | StepCall;

const isText: Check<StepText> = isShape(
  { type: isOneOf(['text', 'reasoning']), text: isString },
  { metadata: isMetadata },
);
const isCall: Check<StepCall> = isShape(
  { type: isOneOf(['call']), id: isString, name: isString, input: isObject },
  { metadata: isMetadata, problem: isShape({ code: isCode, error: isString }) },
);
const isPart: Check<StepPart> = (value): value is StepPart => isText(value) || isCall(value);
type Checked<C> = C extends Check<infer T> ? T : never;

const CHECKS = {
  user: isShape(
    { turn: isCount, prompt: isString },
    {
      attachments: isListOf(isAttachment),
      untrusted: isTrue,
      personality: isString,
      key: isString,
      meta: isAnything,
    },
  ),
  step: isShape(
    { turn: isCount, step: isCount, parts: isListOf(isPart), usage: isUsage, finish: isString },
    {
      untrusted: isTrue,
      /** Tokens of the prompt, as they were estimated before the model was asked. */
      estimate: isAmount,
      // How many sources of untrusted content the session knew when the calls were issued.
      known: isAmount,
    },
  ),
  started: isShape(
    { turn: isCount, calls: isListOf(isString) },
    {
      /** What runs instead of what the model gave, as it was approved. */
      edited: isAnything,
      /** Stands for the tool and the personality that the calls run under. */
      under: isString,
    },
  ),
  result: isShape(
    { turn: isCount, call: isString, output: isString, ok: isBoolean },
    {
      code: isCode,
      cause: isString,
      costUsd: isAmount,
      images: isListOf(isImage),
      /** What the model is told of images that are smaller now, or left out. */
      note: isString,
      untrusted: isTrue,
      /** The turn ends with it: what its tool gave, for the user alone. */
      answer: isString,
      from: isString,
      /** Tools that the model is told from now on. */
      found: isListOf(isString),
    },
  ),
  /** A call that a tool made: it is about to run. */
  inner: isShape({
    turn: isCount,
    /** The call that it comes from. */
    parent: isString,
    call: isString,
    name: isString,
    /** The beginning of its arguments, for whoever is told of it. */
    args: isString,
  }),
  /** It has run. What it gave is its caller's alone. */
  inner_result: isShape(
    { turn: isCount, call: isString, ok: isBoolean },
    {
      costUsd: isAmount,
      untrusted: isTrue,
      source: isShape({ source: isString, tool: isString }),
    },
  ),
  /** Sub-agents that were begun, and what sub-agents used. */
  delegated: isShape({ turn: isCount, begun: isCount, usage: isUsage }),
  resumed: isShape({ turn: isCount }),
  /** What the model is no longer shown: results, by their calls, and what was summed up. */
  context: isShape(
    { turn: isCount, cleared: isListOf(isString) },
    { summary: isSummary, untrusted: isTrue },
  ),
  end: isShape({ turn: isCount, end: isOneOf(ENDS) }, { message: isString }),
};

type RecordOf<K extends keyof typeof CHECKS> = { kind: K } & Checked<(typeof CHECKS)[K]>;

/** A piece of what happened in a session, as it is stored. */
export type AgentRecord = { [K in keyof typeof CHECKS]: RecordOf<K> }[keyof typeof CHECKS];
export type UserRecord = RecordOf<'user'>;
export type StepRecord = RecordOf<'step'>;
export type ResultRecord = RecordOf<'result'>;
export type ContextRecord = RecordOf<'context'>;
export type InnerRecord = RecordOf<'inner'>;

/** The record of a message's data, or `undefined` for what is none that is known. */
export function parseRecord(data: unknown): AgentRecord | undefined {
  if (!isObject(data) || data.v !== VERSION || !isString(data.kind)) return undefined;
  return isRecord(data) ? data : undefined;
}

function isRecord(data: Record<string, unknown>): data is Record<string, unknown> & AgentRecord {
  const { kind } = data;
  if (!isString(kind) || !Object.hasOwn(CHECKS, kind)) return false;
  return Object.entries(CHECKS).some(([name, check]) => name === kind && check(data));
}

/** A record as a message: for people and searches its text, for who resumes its data. */
export function messageOf(record: AgentRecord, toolNameOf: (call: string) => string | undefined) {
  const data = { v: VERSION, ...record };
  const message = (role: NewSessionMessage['role'], text: string): NewSessionMessage => ({
    role,
    text,
    data,
  });
  switch (record.kind) {
    case 'user':
      return message('user', record.prompt);
    case 'step':
      return message('assistant', textOf(record));
    case 'result': {
      const toolName = toolNameOf(record.call)?.slice(0, 1_000);
      return { ...message('tool', record.output), ...(toolName !== undefined && { toolName }) };
    }
    case 'context': {
      const { cleared, summary } = record;
      const upTo =
        summary === undefined
          ? ''
          : ` What came before step ${summary.upTo.step} of turn ${summary.upTo.turn} was summed up.`;
      return message('system', `Results of ${cleared.length} calls were cleared.${upTo}`);
    }
    case 'end':
      return message('system', record.message ?? '');
    default:
      return message('system', '');
  }
}

/** What the model said in a step. */
export function textOf({ parts }: Pick<StepRecord, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** The calls of a step, in order. */
export function callsOf({ parts }: Pick<StepRecord, 'parts'>): StepCall[] {
  return parts.filter((part) => part.type === 'call');
}
