import { randomUUID } from 'node:crypto';
import { causeOfThrown, errorText } from '@ethosagent/policy';
import {
  type AnyTool,
  errorCodeOf,
  type FailureCause,
  type PersonalityConfig,
  type ToolCall,
  type ToolCallResult,
  type ToolResult,
} from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from '../approval.js';
import { redactedJson, type SecretRedactor } from '../results/redact.js';
import type {
  CalledResult,
  CallFacts,
  CallingCall,
  CallOfTool,
  TurnGate,
  TurnHost,
} from '../turn-host.js';
import { emptyBook } from './approval-book.js';
import { CallGuard, type CallGuardParts } from './call-guard.js';
import { type AskHost, answerOfHost } from './host-answer.js';
import type { CallDecision, PendingApproval, UntrustedSource } from './session-api.js';
import { sourceOfCall } from './source-list.js';

/** A call that a tool makes, with the call of that tool. */
export interface InnerCall extends ToolCall {
  parent: CallingCall;
}

/** What is known about an inner call that has its answer. */
export interface InnerAnswer {
  result: ToolResult;
  /** Whether the tool ran. */
  ran: boolean;
  /** Where the result comes from, if the personality does not trust it. */
  source?: UntrustedSource;
  /** The untrusted source, if the framework saw it. */
  from?: string | undefined;
}

/** Runs, counts and records the inner calls of a batch. */
export interface InnerCallsParts {
  /** The personality as it is now. Asked for each call. */
  personality: () => Promise<PersonalityConfig>;
  /** The tool that has the name now. */
  tool: (name: string) => AnyTool | undefined;
  /** The untrusted content that may have influenced the calling call until now. */
  known: () => { isTainted: boolean; sources: readonly UntrustedSource[] };
  approve: AskHost | undefined;
  grants: CallGuardParts['grants'];
  /** Adds a grant. The sources are those that the session knew when the person was asked. */
  grant: (
    approval: PendingApproval,
    decision: CallDecision,
    sources: readonly UntrustedSource[],
  ) => Promise<void>;
  files: CallGuardParts['files'];
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Counts a call that is about to go through the gates. If it throws, the call is refused. */
  begin: (call: InnerCall) => void | Promise<void>;
  /** Runs the call as a batch of its own, which the signal ends. */
  execute: (
    call: InnerCall,
    host: TurnHost,
    signal: AbortSignal,
  ) => Promise<readonly ToolCallResult[]>;
  /** Records the answer before the caller gets it. If it throws, the result is withheld. */
  end: (call: InnerCall, answer: InnerAnswer) => void | Promise<void>;
}

const CAN_NOT_WAIT =
  'a call that a program makes can not wait for a decision: make it by itself, outside the program, so that it can be asked about';
const CAN_NOT_CHANGE =
  'it was approved with other arguments, which a call that a program makes can not take';

/**
 * Runs calls that tools make, each as a batch of its own. They pass the gates of their session like
 * calls of the model. Everything that the caller has read so far counts for them.
 */
export class InnerCalls {
  readonly #parts: InnerCallsParts;

  /**
   * Prepares the calls that tools of one batch make.
   *
   * @param parts what runs, counts and notes them
   */
  constructor(parts: InnerCallsParts) {
    this.#parts = parts;
  }

  /** For the host of the batch whose tools make calls. */
  readonly of = (parent: CallingCall): CallOfTool => {
    // What these calls and their caller have read. The program that makes them can use it, whatever
    // the session knows of it.
    const brought: UntrustedSource[] = [];
    const stored: UntrustedSource = { source: parent.toolName, tool: parent.toolName };
    return async ({ name, args, hasReadStored, secrets }, signal) => {
      if (hasReadStored === true && !brought.some(isSame(stored))) brought.push(stored);
      // A random id, so that nobody else can name this call or give it an answer.
      const toolCallId = `inner-${randomUUID().replaceAll('-', '')}`;
      const call = { toolCallId, name, args, parent };
      try {
        return await this.#call(call, { brought, secrets, signal });
      } catch (error) {
        return { result: failed(error), isUntrusted: false };
      }
    };
  };

  async #call(
    call: InnerCall,
    {
      brought,
      secrets,
      signal,
    }: {
      brought: UntrustedSource[];
      secrets: SecretRedactor | undefined;
      signal: AbortSignal;
    },
  ): Promise<CalledResult> {
    const { begin, end, known, tool, files, grants, now } = this.#parts;
    const personality = await this.#parts.personality();
    let refused: TurnGate | undefined;
    try {
      await begin(call);
    } catch (error) {
      const cause = errorCodeOf(error) ?? causeOfThrown(error) ?? 'CONFIG_INVALID';
      refused = { refuse: errorText(error), cause };
    }
    const { isTainted, sources } = known();
    const guard = new CallGuard({
      personality,
      tool,
      isTainted: isTainted || brought.length > 0,
      sources: [...sources, ...brought.filter((each) => !sources.some(isSame(each)))],
      approve: (request) => this.#ask(request),
      grants,
      ...(files !== undefined && { files }),
      now,
      book: {
        ...emptyBook(call.args),
        grant: (approval, decision) => this.#parts.grant(approval, decision, sources),
      },
    });
    let facts: CallFacts | undefined;
    const asked = guard.host();
    const host: TurnHost = {
      ...asked,
      parentCallId: call.parent.toolCallId,
      ...(secrets !== undefined && { secrets }),
      gate: (gated) => refused ?? makesCalls(gated.tool) ?? asked.gate(gated),
      onResult: (_, told) => {
        facts = told;
      },
    };
    const [answer] = await this.#parts.execute(call, host, signal);
    if (answer === undefined) return { result: failed('there was no answer'), isUntrusted: false };
    const { result } = answer;
    const { isMarked, isUntrusted, from } = await guard.judge(answer, facts);
    const source = isUntrusted ? originOf(call, from, secrets) : undefined;
    if (source !== undefined && !brought.some(isSame(source))) brought.push(source);
    const ran = facts?.ran === true;
    await end(call, { result, ran, ...(source !== undefined && { source, from }) });
    // If the tool that made the call does not mark its own results as untrusted, this text would
    // reach the model without a mark.
    const isHidden = isMarked && tool(call.parent.toolName)?.outputIsUntrusted !== true;
    return { result, isUntrusted: isUntrusted || isHidden };
  }

  /**
   * If nobody can decide at once, the call is refused: a program can't be stopped and continued
   * later.
   */
  async #ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    const said = await answerOfHost(this.#parts.approve, request);
    if (said === 'later') return { approved: false, reason: CAN_NOT_WAIT };
    if (typeof said !== 'object' || said === null || said.approved !== true) return said;
    return said.args === undefined ? said : { approved: false, reason: CAN_NOT_CHANGE };
  }
}

function makesCalls(tool: AnyTool): TurnGate | undefined {
  if (tool.capabilities.calls === undefined) return undefined;
  return {
    refuse: `${tool.name} did not run: it makes calls itself, so no program may call it; call it by itself`,
    cause: 'TOOL_NOT_CALLABLE',
  };
}

function originOf(
  { name, args }: InnerCall,
  from: string | undefined,
  secrets: SecretRedactor | undefined,
): UntrustedSource {
  if (from !== undefined) return { source: from, tool: name };
  return sourceOfCall(name, secrets === undefined ? args : redactedJson(args, secrets));
}

function isSame(one: UntrustedSource): (other: UntrustedSource) => boolean {
  return ({ source, tool }) => source === one.source && tool === one.tool;
}

function failed(error: unknown): ToolResult {
  const cause: FailureCause = errorCodeOf(error) ?? causeOfThrown(error) ?? 'CALL_INTERRUPTED';
  const text = typeof error === 'string' ? error : errorText(error);
  return { ok: false, code: 'execution_failed', error: text, cause };
}
