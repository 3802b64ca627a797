import {
  callListener,
  canonicalJson,
  causeOfThrown,
  compileClosedSchema,
} from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type PersonalityConfig,
  type ToolCall,
  type ToolCallResult,
  type ToolDefinition,
} from '@ethosagent/types';
import { imagesOf } from '../results/images.js';
import type { CallFacts, TurnHost } from '../turn-host.js';
import { type ApprovalBook, type AskHost, CallGuard } from './call-guard.js';
import { type CheckedCall, checkCall, checkOffRecord } from './check-call.js';
import { isGrantOf } from './grants.js';
import { joinHosts } from './join-hosts.js';
import { markResult, modelText, withEdit } from './mark-result.js';
import { withProblems } from './pending-problems.js';
import { askQuarantined, NO_ANSWER, quarantineFailure } from './quarantine.js';
import {
  answeredResult,
  failureOf,
  partsOf,
  type RunCalls,
  readOnce,
  refuseAll,
  refusedResult,
  waits,
} from './session-answers.js';
import type {
  CallCheck,
  CallDecision,
  PendingApproval,
  QuarantineAnswer,
  QuarantineRequest,
  SessionBatchOptions,
  SessionGrant,
  SessionIdentity,
  SessionLimits,
  SessionResult,
  ToolSession,
  UntrustedSource,
} from './session-api.js';
import type { SessionLedger, WaitingCall } from './session-ledger.js';
import type { SessionTools } from './session-tools.js';
import { createGrant, invalidApproval, isSameDecision, settleDecision } from './settle-decision.js';
import { sourceOfCall } from './source-list.js';
import type { UntrustedFiles } from './untrusted-files.js';
import { sourceOf } from './untrusted-gate.js';

export interface ToolSessionParts {
  id: string;
  tools: SessionTools;
  /** The personality at the begin of each batch; the active one of `tools` when absent. */
  personality: string | undefined;
  /** For when `personality` is absent. */
  activePersonality: () => string;
  identity: SessionIdentity;
  approve: AskHost | undefined;
  limits: SessionLimits;
  ledger: SessionLedger;
  /** What the owner of the session has granted beyond it, under a personality. */
  ownerLedger: (personalityId: string) => SessionLedger;
  /** What sessions changed with untrusted content at hand. */
  files: UntrustedFiles;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Rounds of one batch: whoever approves may change the arguments of a call that often. */
const MAX_ROUNDS = 4;
const NEVER = new AbortController().signal;

interface SessionRunOptions extends SessionBatchOptions {
  host?: TurnHost;
  personality?: string;
  /** The results are for the reader alone. Gets the places of those that hold foreign text. */
  quarantined?: Set<number>;
}

/** A call, and where its result goes. */
interface Placed {
  call: ToolCall;
  index: number;
  /** What it was changed to. */
  edited?: unknown;
  /** The question whose answer changed it. */
  question?: string;
}

export class DefaultToolSession implements ToolSession {
  readonly #parts: ToolSessionParts;
  #calls = 0;
  #costUsd = 0;

  constructor(parts: ToolSessionParts) {
    this.#parts = parts;
  }

  get id(): string {
    return this.#parts.id;
  }

  get personalityId(): string {
    const { personality, activePersonality } = this.#parts;
    return personality ?? activePersonality();
  }

  async definitions(): Promise<ToolDefinition[]> {
    return structuredClone(await this.#parts.tools.definitions(this.personalityId));
  }

  execute(calls: readonly ToolCall[], options: SessionBatchOptions = {}): Promise<SessionResult[]> {
    return this.run(calls, options, (batch, host) => this.#execute(batch, { ...options, host }));
  }

  #execute(
    batch: readonly ToolCall[],
    options: SessionBatchOptions & { host: TurnHost },
  ): Promise<ToolCallResult[]> {
    const { id, tools, identity, limits } = this.#parts;
    return tools.execute(batch, {
      ...identity,
      personality: this.personalityId,
      sessionId: id,
      currentTurn: options.currentTurn ?? 1,
      messageCount: options.messageCount ?? 0,
      abortSignal: options.abortSignal ?? NEVER,
      resultBudgetChars: options.resultBudgetChars ?? limits.resultBudgetChars ?? 80_000,
      protections: 'none',
      ...(options.dryRun !== undefined && { dryRun: options.dryRun }),
      ...(options.tools !== undefined && { tools: options.tools }),
      ...(options.attachments !== undefined && { attachments: options.attachments }),
      host: options.host,
    });
  }

  /**
   * As `execute`, with the batch run by the caller.
   * @param host what the caller has a say in beside the session
   */
  async run(
    calls: readonly ToolCall[],
    options: SessionBatchOptions & { host?: TurnHost; personality?: string },
    runCalls: RunCalls,
  ): Promise<SessionResult[]> {
    const batch: readonly ToolCall[] = Array.isArray(calls) ? Array.from(calls, readOnce) : [];
    try {
      return await this.#run(batch, options, runCalls);
    } catch (error) {
      return refuseAll(batch, { error, host: options.host, runCalls });
    }
  }

  async readQuarantined(
    { calls, question, schema, read }: QuarantineRequest,
    options: Pick<SessionBatchOptions, 'abortSignal' | 'resultBudgetChars' | 'tools'> = {},
  ): Promise<QuarantineAnswer> {
    const closed = compileClosedSchema(schema);
    if (!closed.ok) return quarantineFailure(closed.problem, 'INPUT_INVALID', 'input_invalid');
    const { abortSignal: signal = NEVER, resultBudgetChars, tools } = options;
    const batch = Array.isArray(calls) ? Array.from(calls, readOnce) : [];
    try {
      const marked = new Set<number>();
      const results = await this.#run(
        batch,
        { abortSignal: signal, ...(tools !== undefined && { tools }), quarantined: marked },
        (admitted, host) =>
          this.#execute(admitted, {
            abortSignal: signal,
            ...(resultBudgetChars !== undefined && { resultBudgetChars }),
            ...(tools !== undefined && { tools }),
            host,
          }),
      );
      const failed = failureOf(results, marked);
      if (failed !== undefined) return failed;
      const answer = await askQuarantined(results, {
        schema: structuredClone(schema),
        compiled: closed.schema,
        question: String(question),
        read,
        signal,
      });
      return answer === undefined ? NO_ANSWER : { ok: true, ...answer };
    } catch (error) {
      if (signal.aborted) return quarantineFailure('the turn was aborted', 'CALL_ABORTED');
      const cause = errorCodeOf(error) ?? causeOfThrown(error) ?? 'CONFIG_INVALID';
      return quarantineFailure('the content could not be read', cause);
    }
  }

  async #run(
    calls: readonly ToolCall[],
    options: SessionRunOptions,
    runCalls: RunCalls,
  ): Promise<SessionResult[]> {
    if (calls.length === 0) return [];
    const { tools, ledger } = this.#parts;
    const personality = await tools.personality(options.personality ?? this.personalityId);
    await ledger.refresh();
    const { isTainted, sources } = ledger;
    const results = new Map<number, SessionResult>();
    let round: Placed[] = calls.map((call, index) => this.#placed(call, index));
    this.#spend(round.length);
    for (let count = 1; round.length > 0; count++) {
      const over = new Set<string>();
      const guard = new CallGuard({
        personality,
        tool: (name) => tools.tool(name),
        isTainted,
        sources,
        approve: options.host?.approve ?? this.#parts.approve,
        book: this.#book(personality, {
          over,
          sources,
          inputs: new Map(round.map(({ call }) => [partsOf(call).toolCallId, partsOf(call).args])),
        }),
        grants: () => this.#grants(personality),
        files: this.#parts.files,
        now: this.#parts.now,
      });
      const facts = new Map<string, CallFacts>();
      const answers = await runCalls(
        round.map(({ call, edited }) => (edited === undefined ? call : { ...call, args: edited })),
        this.#host(guard, options, { facts, over, edits: editsOf(round) }),
      );
      const { quarantined } = options;
      await this.#keep(guard, { round, answers, facts, results, quarantined });
      round =
        count < MAX_ROUNDS
          ? round
              .filter(({ call }) => guard.edited.has(partsOf(call).toolCallId))
              .map(({ call, index }) => this.#placed(call, index))
          : [];
    }
    return calls.map((call, index) => results.get(index) ?? refusedResult(call, undefined));
  }

  async check(call: ToolCall): Promise<CallCheck> {
    const read = readOnce(call);
    try {
      const checked = await this.#check(read);
      if (checked.kind !== 'refused') return checked;
      return { kind: 'refused', result: answeredResult(read, checked.result) };
    } catch (error) {
      return { kind: 'refused', result: refusedResult(read, error) };
    }
  }

  async #check(call: ToolCall): Promise<CheckedCall> {
    const { tools, now, id: sessionId, identity, ledger } = this.#parts;
    const personality = await tools.personality(this.personalityId);
    await ledger.refresh();
    const { edited } = this.#placed(call, 0);
    const guard = new CallGuard({
      personality,
      tool: (name) => tools.tool(name),
      isTainted: ledger.isTainted,
      sources: ledger.sources,
      approve: undefined,
      grants: () => this.#grants(personality),
      now,
      book: this.#book(personality, {
        over: new Set(),
        sources: ledger.sources,
        inputs: new Map([[call.toolCallId, call.args]]),
      }),
    });
    return checkCall(edited === undefined ? call : { ...call, args: edited }, guard, {
      tools,
      identity,
      personality,
      sessionId,
    });
  }

  async pending(): Promise<PendingApproval[]> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    return withProblems(
      ledger.waiting.map(({ approval }) => approval),
      this.#parts.tools,
    );
  }

  async withdraw({
    toolCallId: call,
    question,
  }: Pick<PendingApproval, 'toolCallId' | 'question'>): Promise<boolean> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    let wasThere = false;
    await ledger.append(() => {
      wasThere = ledger.waitingCall(call)?.approval.question === question;
      return wasThere ? [{ kind: 'taken', call, question }] : [];
    });
    return wasThere;
  }

  async decide(
    { toolCallId, question }: Pick<PendingApproval, 'toolCallId' | 'question'>,
    decision: CallDecision,
  ): Promise<void> {
    const { ledger, tools } = this.#parts;
    // A plain no needs none, so that it can be said where the personality is gone.
    const personality =
      decision.approved === false
        ? { id: this.personalityId, name: '' }
        : await tools.personality(this.personalityId);
    await ledger.refresh();
    const { approval } = this.#waitingFor(toolCallId, question);
    await this.#decide(approval, { ...decision }, personality);
  }

  async resume(options: SessionBatchOptions = {}): Promise<SessionResult[]> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    const decided = ledger.waiting.filter(({ approval }) => approval.decision !== undefined);
    return this.execute(
      decided.map(({ approval: { toolCallId, toolName }, input }) => ({
        toolCallId,
        name: toolName,
        args: input,
      })),
      options,
    );
  }

  async sources(): Promise<UntrustedSource[]> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    return structuredClone(ledger.sources);
  }

  async addSource({ source, tool }: UntrustedSource): Promise<void> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    await ledger.addSources([{ source: String(source), tool: String(tool) }]);
  }

  async grants(): Promise<SessionGrant[]> {
    const { tools } = this.#parts;
    return structuredClone(await this.#grants(await tools.personality(this.personalityId)));
  }

  async revoke(grantId: string): Promise<boolean> {
    const { ledger, ownerLedger, tools } = this.#parts;
    const { id: personalityId } = await tools.personality(this.personalityId);
    for (const each of [ledger, ownerLedger(personalityId)]) {
      await each.refresh();
      if (!each.grants.some(({ id }) => id === grantId)) continue;
      await each.append(() => [{ kind: 'revoked', grant: grantId }]);
      return true;
    }
    return false;
  }

  async end(): Promise<void> {
    await this.#parts.tools.endSession?.(this.id);
  }

  async #grants({ id }: PersonalityConfig): Promise<SessionGrant[]> {
    const { ledger, ownerLedger, identity } = this.#parts;
    const ledgers = [ledger, ownerLedger(id)];
    await Promise.all(ledgers.map((ledger) => ledger.refresh()));
    return ledgers.flatMap(({ grants }) => grants.filter((grant) => isGrantOf(grant, identity)));
  }

  /** A call with the arguments that it was approved with, where it is the very call that was asked about. */
  #placed(call: ToolCall, index: number): Placed {
    const { toolCallId, name, args = null } = partsOf(call);
    const waiting = this.#parts.ledger.waitingCall(toolCallId);
    const edited = waiting?.approval.decision?.args;
    const isTheSame =
      waiting !== undefined &&
      waiting.approval.toolName === name &&
      canonicalJson(waiting.input) === canonicalJson(args);
    if (edited === undefined || !isTheSame) return { call, index };
    return { call, index, edited, question: waiting.approval.question };
  }

  /** @throws `TURN_LIMIT` */
  #spend(calls: number): void {
    const { maxCalls = Number.POSITIVE_INFINITY, maxCostUsd = Number.POSITIVE_INFINITY } =
      this.#parts.limits;
    this.#calls += calls;
    if (this.#calls > maxCalls) {
      throw new EthosError('TURN_LIMIT', `the session made its ${maxCalls} calls`);
    }
    if (this.#costUsd >= maxCostUsd) {
      throw new EthosError('TURN_LIMIT', `the session cost its ${maxCostUsd} US dollars`);
    }
  }

  #host(
    guard: CallGuard,
    { host, onProgress, onResult, quarantined }: SessionRunOptions,
    {
      facts,
      over,
      edits,
    }: {
      facts: Map<string, CallFacts>;
      over: Set<string>;
      /** The questions whose answer changed the arguments of a call. */
      edits: ReadonlyMap<string, string>;
    },
  ): TurnHost {
    const { ledger } = this.#parts;
    return joinHosts(host, {
      ...guard.host(),
      // What the calls keep is not for a session that has not read what they read.
      ...(quarantined !== undefined && { isTainted: true }),
      beforeRun: ({ toolCallId }: ToolCall) => {
        const answered = guard.answered.get(toolCallId);
        const waits = ledger.waitingCall(toolCallId)?.approval.question;
        const question = answered ?? edits.get(toolCallId) ?? waits;
        return question === undefined ? undefined : this.#take(toolCallId, question);
      },
      onProgress: (event, toolCallId) => {
        const { audience } = event;
        if (audience === 'user' || audience === 'dashboard') onProgress?.(event, toolCallId);
      },
      onResult: (result, fact) => {
        over.add(result.toolCallId);
        if (fact?.ran === true) {
          const isSecond = facts.has(result.toolCallId);
          facts.set(result.toolCallId, isSecond ? withoutReads(fact) : fact);
        }
        callListener(() => onResult?.(result));
      },
    });
  }

  /** Of several that have the same yes, one goes on. @throws `SESSION_CHANGED` for the others */
  async #take(toolCallId: string, question: string): Promise<void> {
    const { ledger } = this.#parts;
    await ledger.append(() => {
      if (ledger.waitingCall(toolCallId)?.approval.question === question) {
        return [{ kind: 'taken', call: toolCallId, question }];
      }
      throw new EthosError(
        'SESSION_CHANGED',
        `${toolCallId} was taken up already, here or by another process`,
      );
    });
  }

  /** Marks what was read, and notes where it came from before anybody reads it. */
  async #keep(
    guard: CallGuard,
    {
      round,
      answers,
      facts,
      results,
      quarantined,
    }: {
      round: readonly Placed[];
      answers: readonly ToolCallResult[];
      facts: ReadonlyMap<string, CallFacts>;
      results: Map<number, SessionResult>;
      quarantined: Set<number> | undefined;
    },
  ): Promise<void> {
    const { ledger } = this.#parts;
    const found: UntrustedSource[] = [];
    const withheld: Array<() => void> = [];
    for (const [place, { call, index, edited }] of round.entries()) {
      const answer = answers[place];
      if (answer === undefined) continue;
      const { toolCallId, name } = answer;
      const { isMarked, isUntrusted, from } = await guard.judge(answer, facts.get(toolCallId));
      // Of calls with one id, one may wait and another have run.
      const isAnswered = answer.result.ok || answer.result.cause !== 'NOT_APPROVED';
      const approval = isAnswered ? undefined : guard.waiting.get(toolCallId);
      const origin = { source: sourceOf(name, edited ?? partsOf(call).args), tool: name };
      const given = approval === undefined ? answer.result : waits(name);
      const isEdited = edited !== undefined && facts.get(toolCallId)?.ran === true;
      const noted = isEdited ? withEdit(given, edited) : given;
      const result = isMarked ? markResult(noted, origin) : noted;
      if (answer.result.ok) this.#costUsd += Math.max(0, Number(answer.result.cost_usd) || 0);
      results.set(index, {
        ...answer,
        result,
        text: modelText(result),
        images: imagesOf(answer.result),
        durationMs: facts.get(toolCallId)?.durationMs ?? 0,
        ...(approval !== undefined && { approval }),
      });
      if (isMarked) quarantined?.add(index);
      // What only the reader gets, the session has not read.
      if (isUntrusted && quarantined === undefined) {
        const { args } = partsOf(call);
        found.push(
          from === undefined ? sourceOfCall(name, edited ?? args) : { source: from, tool: name },
        );
        withheld.push(() =>
          results.set(
            index,
            refusedResult(
              call,
              new EthosError(
                'STORE_UNAVAILABLE',
                'the call has run, and its result is withheld: that it is untrusted could not be recorded; mend the store of sessions',
              ),
            ),
          ),
        );
      }
      const waiting = ledger.waitingCall(toolCallId);
      if (waiting?.approval.decision?.approved === false && approval === undefined) {
        await this.#take(toolCallId, waiting.approval.question).catch(() => {});
      }
    }
    try {
      await ledger.addSources(found);
    } catch {
      for (const withhold of withheld) withhold();
    }
  }

  #waitingFor(toolCallId: string, question: string): WaitingCall {
    const waiting = this.#parts.ledger.waitingCall(toolCallId);
    if (waiting === undefined) throw invalidApproval(`no call ${toolCallId} of the session waits`);
    if (waiting.approval.question === question) return waiting;
    throw invalidApproval(
      `${toolCallId} asks for something else by now; look at \`pending\` and decide again`,
    );
  }

  /** @throws as `ToolSession.decide` */
  async #decide(
    approval: PendingApproval,
    said: CallDecision,
    personality: PersonalityConfig,
  ): Promise<void> {
    const { ledger, tools, identity, now, id: sessionId } = this.#parts;
    const { toolCallId: call, question } = approval;
    const { sources } = this.#waitingFor(call, question);
    const { decision, shown } = await settleDecision(approval, said, {
      personality,
      check: (changed) =>
        checkOffRecord(changed, {
          tools,
          sessionId,
          identity,
          personality,
          isTainted: ledger.isTainted,
          sources: ledger.sources,
          now,
        }),
    });
    // The same decision again is no second grant.
    let isMade = false;
    await ledger.append(() => {
      const made = this.#waitingFor(call, question).approval.decision;
      isMade = made !== undefined;
      if (made === undefined) return [{ kind: 'decided', call, question, ...decision }];
      if (isSameDecision(made, said)) return [];
      throw invalidApproval(`it is decided on ${call} already`);
    });
    if (said.always !== undefined && !isMade) {
      await this.#grant(shown, said, { personality, sources });
    }
  }

  async #grant(
    approval: PendingApproval,
    decision: CallDecision,
    {
      personality,
      sources,
    }: { personality: PersonalityConfig; sources: readonly UntrustedSource[] },
  ): Promise<void> {
    const { ledger, ownerLedger, tools, identity: owner, now } = this.#parts;
    const grant = createGrant(approval, decision, {
      personality,
      tool: tools.tool(approval.toolName),
      sources,
      owner,
      now,
    });
    const to = grant.scope === 'session' ? ledger : ownerLedger(personality.id);
    await to.append(() => [{ kind: 'granted', grant }]);
  }

  #book(
    personality: PersonalityConfig,
    {
      over,
      inputs,
      sources,
    }: {
      over: ReadonlySet<string>;
      inputs: ReadonlyMap<string, unknown>;
      /** What whoever is asked knows of. */
      sources: readonly UntrustedSource[];
    },
  ): ApprovalBook {
    const { ledger } = this.#parts;
    return {
      find: (toolCallId) => ledger.waitingCall(toolCallId),
      inputOf: (toolCallId) => inputs.get(toolCallId),
      isOver: (toolCallId) => over.has(toolCallId),
      ask: ({ input, ...approval }) =>
        ledger.append(() => [{ kind: 'asked', approval, input, sources: [...sources] }]),
      decide: (approval, decision) => this.#decide(approval, decision, personality),
      grant: (approval, decision) => this.#grant(approval, decision, { personality, sources }),
    };
  }
}

/** Of calls with one id, what ran counts; which of them read what is not known. */
function withoutReads({ reads: _, ...fact }: CallFacts): CallFacts {
  return fact;
}

function editsOf(round: readonly Placed[]): ReadonlyMap<string, string> {
  return new Map(
    round.flatMap(({ call, question }): [string, string][] =>
      question === undefined ? [] : [[partsOf(call).toolCallId, question]],
    ),
  );
}
