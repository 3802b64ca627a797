import {
  type Check,
  isAmount,
  isAnything,
  isAttachmentInfo,
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

/** The version of `data` in a message. */
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
    /** The last step that it covers; 0 for the message of a user. */
    upTo: isShape({ turn: isCount, step: isCount }),
    text: isString,
    /** SHA-256 of the summed-up messages as JSON, in base64url. */
    digest: isString,
    usage: isUsage,
  },
  { marked: isTrue },
);
const isImage = isShape({ mediaType: isString, data: isString });
/** What the model wrote as its answer or as its reasoning. */
export interface StepText {
  type: 'text' | 'reasoning';
  text: string;
  metadata?: ProviderMetadata;
}

export interface StepCall {
  type: 'call';
  id: string;
  name: string;
  input: Record<string, unknown>;
  metadata?: ProviderMetadata;
  /** Why the call can't run. The model is told this instead of a result. */
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
      attachments: isListOf(isAttachmentInfo),
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
      /** The estimated tokens of the prompt, from before the model was asked. */
      estimate: isAmount,
      // How many sources of untrusted content the session knew when the calls were issued.
      known: isAmount,
    },
  ),
  started: isShape(
    { turn: isCount, calls: isListOf(isString) },
    {
      /** The approved arguments, if they differ from those of the model. */
      edited: isAnything,
      /** A digest of the tool and the personality under which the calls run. */
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
      /** What the model is told about images that were made smaller or left out. */
      note: isString,
      untrusted: isTrue,
      /** The answer that the tool gave to the user. The turn ends with it. */
      answer: isString,
      from: isString,
      /** The tools that the model is told about from now on. */
      found: isListOf(isString),
    },
  ),
  /** A tool is about to make this call. */
  inner: isShape({
    turn: isCount,
    /** The call whose tool makes it. */
    parent: isString,
    call: isString,
    name: isString,
    /** The start of its arguments, to show it to somebody. */
    args: isString,
  }),
  /** A call that a tool made has ended. Only that tool got its result. */
  inner_result: isShape(
    { turn: isCount, call: isString, ok: isBoolean },
    {
      costUsd: isAmount,
      untrusted: isTrue,
      source: isShape({ source: isString, tool: isString }),
    },
  ),
  /** How many sub-agents were begun, what they used, and how many calls ran for a reader alone. */
  delegated: isShape({ turn: isCount, begun: isCount, usage: isUsage }, { calls: isCount }),
  resumed: isShape({ turn: isCount }),
  /**
   * What the model no longer sees: results of the listed calls, and the entries that were summed
   * up.
   */
  context: isShape(
    { turn: isCount, cleared: isListOf(isString) },
    { summary: isSummary, untrusted: isTrue },
  ),
  /** The results whose images the model no longer sees, because its provider refused them. */
  images_refused: isShape({ turn: isCount, calls: isListOf(isString) }),
  end: isShape({ turn: isCount, end: isOneOf(ENDS) }, { message: isString }),
};

type RecordOf<K extends keyof typeof CHECKS> = { kind: K } & Checked<(typeof CHECKS)[K]>;

/** An event of a session, as it is stored. */
export type AgentRecord = { [K in keyof typeof CHECKS]: RecordOf<K> }[keyof typeof CHECKS];
export type UserRecord = RecordOf<'user'>;
export type StepRecord = RecordOf<'step'>;
export type ResultRecord = RecordOf<'result'>;
export type ContextRecord = RecordOf<'context'>;
export type InnerRecord = RecordOf<'inner'>;

/** The record in a message's data, or `undefined` if it is not a known record. */
export function parseRecord(data: unknown): AgentRecord | undefined {
  if (!isObject(data) || data.v !== VERSION || !isString(data.kind)) return undefined;
  return isRecord(data) ? data : undefined;
}

function isRecord(data: Record<string, unknown>): data is Record<string, unknown> & AgentRecord {
  const { kind } = data;
  if (!isString(kind) || !Object.hasOwn(CHECKS, kind)) return false;
  return Object.entries(CHECKS).some(([name, check]) => name === kind && check(data));
}

/** A record as a message. Its text is for people and for searches, its data for resuming. */
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
    case 'images_refused':
      return message('system', `Images of ${record.calls.length} calls were refused.`);
    case 'end':
      return message('system', record.message ?? '');
    default:
      return message('system', '');
  }
}

/** The text that the model wrote in a step. */
export function textOf({ parts }: Pick<StepRecord, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

export function callsOf({ parts }: Pick<StepRecord, 'parts'>): StepCall[] {
  return parts.filter((part) => part.type === 'call');
}
