import { createHash } from 'node:crypto';
import {
  type ApprovalDecision,
  type ApprovalRequest,
  mayBeForeign,
  type TurnHost,
} from '@ethosagent/core';
import { callListener } from '@ethosagent/policy';
import type {
  AnyTool,
  DelegationProvider,
  PersonalityConfig,
  ToolCall,
  ToolCallResult,
  ToolProgressEvent,
  ToolResult,
  TurnAttachment,
} from '@ethosagent/types';
import { EthosError } from '@ethosagent/types';
import type { AgentLoopOptions, PendingApproval } from './api.js';
import type { EventQueue } from './event-queue.js';
import { canonicalJson } from './journal/canonical-json.js';
import type { Journal } from './journal/journal.js';
import type { AgentRecord } from './journal/records.js';
import type { LoggedCall } from './journal/session-log.js';
import type { TurnLimits } from './options.js';
import { answerAtOnce, resultRecord } from './turn-calls.js';
import { isTrusted, untrustedGate } from './untrusted.js';
import { untilAborted } from './with-grace.js';

export interface TurnBatchParts {
  options: AgentLoopOptions;
  limits: TurnLimits;
  journal: Journal;
  events: EventQueue;
  now: () => number;
  sessionId: string;
  attachments: readonly TurnAttachment[];
  turn: number;
  /** What comes while the batch runs had no part in its calls. */
  isTainted: boolean;
  signal: AbortSignal;
  delegation: DelegationProvider | undefined;
  /** Gets the ids of calls that wait for a decision. */
  later: Set<string>;
  /** What did not begin is left for whoever resumes. */
  isLeft: () => boolean;
  onFailure: (error: unknown) => void;
}

/** The calls of a step that run together: each is written down before it runs, and when it has. */
export class TurnBatch {
  readonly #parts: TurnBatchParts;
  readonly #calls = new Map<string, LoggedCall>();
  readonly #tools = new Map<string, AnyTool | undefined>();
  readonly #startedAt = new Map<string, number>();
  /** Calls whose `tool_start` has been told. */
  readonly #told = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #writing: Promise<void>[] = [];
  #isOver = false;

  constructor(parts: TurnBatchParts) {
    this.#parts = parts;
  }

  /** Resolves when all results are stored. @throws as `Journal.append` */
  async run(calls: readonly LoggedCall[]): Promise<void> {
    const { options, limits, journal, sessionId, attachments, turn, signal } = this.#parts;
    const personality = await untilAborted(options.tools.personality(options.personality), signal);
    for (const logged of calls) {
      this.#calls.set(logged.call.id, logged);
      this.#tools.set(logged.call.id, options.tools.tool(logged.call.name));
    }
    const results = await options.tools.execute(
      calls.map(({ call }) => ({
        toolCallId: call.id,
        name: call.name,
        args: structuredClone(call.input),
      })),
      {
        ...options.identity,
        personality: personality.id,
        sessionId,
        currentTurn: turn,
        messageCount: journal.log.messageCount,
        abortSignal: signal,
        resultBudgetChars: limits.resultBudgetChars,
        attachments,
        host: this.#host(personality),
      },
    );
    // A runtime answers some calls itself, without a word to the host.
    for (const result of results) this.#onResult(result, personality);
    for (const { call } of calls) {
      const result: ToolResult = {
        ok: false,
        code: 'execution_failed',
        error: 'there was no answer',
      };
      this.#onResult({ toolCallId: call.id, name: call.name, result }, personality);
    }
    await Promise.all(this.#writing);
    this.#isOver = true;
  }

  #host(personality: PersonalityConfig): TurnHost {
    const { isTainted, delegation } = this.#parts;
    return {
      isTainted,
      ...(delegation !== undefined && { delegation }),
      approve: (request) => this.#approve(request),
      gate: ({ tool }) =>
        isTainted ? untrustedGate(tool, personality.safety?.untrusted) : undefined,
      beforeRun: (call) => this.#beforeRun(call),
      onProgress: (event, toolCallId) => this.#onProgress(event, toolCallId),
      onResult: (result) => this.#onResult(result, personality),
    };
  }

  async #approve(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { options, turn, later, now, events } = this.#parts;
    const { toolCallId, toolName, args, capabilities, reason, settings } = request;
    const logged = this.#calls.get(toolCallId);
    if (logged === undefined) return false;
    const question = this.#questionOf(request);
    const known = logged.approval;
    const isSame = known?.question === question;
    if (isSame && known.decision?.approved === true) return true;
    const decision = options.approve === undefined ? 'later' : await options.approve(request);
    // It may have been decided on meanwhile: a no keeps it from running, whoever says it.
    if (logged.approval?.decision?.approved === false) return false;
    if (decision !== 'later') return decision;
    // Too late to ask: the call has its answer.
    if (request.signal.aborted || this.#isOver || this.#answered.has(toolCallId)) return false;
    const approval: PendingApproval = JSON.parse(
      JSON.stringify({
        toolCallId,
        question,
        toolName,
        args: args ?? null,
        capabilities,
        reason,
        settings,
        askedAt: now(),
      }),
    );
    later.add(toolCallId);
    this.#waiting.add(toolCallId);
    try {
      if (!isSame) await this.#write({ kind: 'asked', turn, approval });
    } catch (error) {
      // Nobody could decide on what is not on record: it is refused.
      later.delete(toolCallId);
      this.#waiting.delete(toolCallId);
      throw error;
    }
    await events.push({ type: 'approval', approval });
    return { approved: false, reason: 'it waits for a decision' };
  }

  /** With the tool in it: what was approved of one does not run another that has taken its name. */
  #questionOf(request: ApprovalRequest): string {
    const { toolCallId: _, sessionId: __, signal: ___, ...asked } = request;
    const tool = this.#parts.options.tools.tool(request.toolName);
    const facts = tool && [tool.description, tool.schema, tool.capabilities, tool.effects];
    return createHash('sha256')
      .update(canonicalJson([asked, facts]))
      .digest('base64url');
  }

  async #beforeRun({ toolCallId, name }: ToolCall): Promise<void> {
    const { turn, signal, now } = this.#parts;
    const logged = this.#calls.get(toolCallId);
    if (logged === undefined || logged.started || this.#startedAt.has(toolCallId)) {
      throw new EthosError('TURN_INVALID', `${name} has been called already`);
    }
    signal.throwIfAborted();
    this.#startedAt.set(toolCallId, now());
    try {
      await this.#write({ kind: 'started', turn, calls: [toolCallId] });
    } catch (error) {
      // It does not run: what it is answered is not its tool's.
      if (this.#refusalOf(logged) !== undefined) this.#startedAt.delete(toolCallId);
      throw error;
    }
    signal.throwIfAborted();
    await this.#tellStart(logged);
  }

  /** What the model is told of a call that was refused while it was about to run. */
  #refusalOf(logged: LoggedCall): ToolResult | undefined {
    return logged.started ? undefined : answerAtOnce(logged);
  }

  #onResult(answer: ToolCallResult, personality: PersonalityConfig): void {
    const { toolCallId, result: given, untrusted: isKept = false } = answer;
    const { isLeft, turn, journal, options } = this.#parts;
    const logged = this.#calls.get(toolCallId);
    if (logged === undefined || this.#answered.has(toolCallId)) return;
    this.#answered.add(toolCallId);
    const isStarted = this.#startedAt.has(toolCallId);
    if (this.#waiting.has(toolCallId)) return;
    if (!isStarted && (isLeft() || journal.failure !== undefined)) return;
    const result = (isStarted ? undefined : this.#refusalOf(logged)) ?? given;
    const { name } = logged.call;
    const tool = this.#tools.get(toolCallId);
    const isForeign =
      isKept || mayBeForeign(tool, result) || mayBeForeign(options.tools.tool(name), result);
    // What did not run was answered by the framework.
    const isMarked = isStarted && isForeign;
    const record = resultRecord(turn, logged, {
      result,
      isMarked,
      isUntrusted:
        isMarked &&
        // The personality trusts the tool, not whoever wrote what it kept.
        (isKept ||
          !isTrusted(personality, name, {
            tool,
            isTool: (other) => options.tools.tool(other) !== undefined,
          })),
    });
    const written = this.#write(record).then(() => this.#tellResult(logged, result));
    // Waited for at the end of the batch.
    written.catch(() => {});
    this.#writing.push(written);
  }

  #tellStart({ call }: LoggedCall): Promise<void> {
    const { id: toolCallId, name: toolName, input } = call;
    if (this.#told.has(toolCallId)) return Promise.resolve();
    this.#told.add(toolCallId);
    // A copy: what a reader does with it must not change the call.
    const args = structuredClone(input);
    return this.#parts.events.push({ type: 'tool_start', toolCallId, toolName, args });
  }

  async #tellResult(logged: LoggedCall, result: ToolResult): Promise<void> {
    const { events, now } = this.#parts;
    const { id: toolCallId, name: toolName } = logged.call;
    const startedAt = this.#startedAt.get(toolCallId);
    await this.#tellStart(logged);
    const ms = startedAt === undefined ? 0 : Math.max(0, now() - startedAt);
    await events.push({ type: 'tool_end', toolCallId, toolName, result, ms });
  }

  #onProgress(event: ToolProgressEvent, toolCallId: string): void {
    const { options, events } = this.#parts;
    const { toolName, message, percent, audience } = event;
    if (this.#isOver) return;
    if (audience !== 'user' && audience !== 'dashboard') {
      callListener(() => options.onInternal?.(event));
      return;
    }
    void events.push({
      type: 'tool_progress',
      toolCallId,
      toolName,
      message,
      ...(percent !== undefined && { percent }),
      audience,
    });
  }

  async #write(record: AgentRecord): Promise<void> {
    try {
      await this.#parts.journal.append(record);
    } catch (error) {
      // What can't be written down must not go on.
      if (this.#parts.journal.failure !== undefined) this.#parts.onFailure(error);
      throw error;
    }
  }
}
