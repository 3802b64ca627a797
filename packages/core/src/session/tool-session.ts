import { assertOptions, type OptionNames } from '@ethosagent/policy';
import {
  EthosError,
  type ToolCall,
  type ToolCallResult,
  type ToolDefinition,
  type ToolResult,
} from '@ethosagent/types';
import type { TurnHost } from '../turn-host.js';
import { assertBatchValues } from './batch-options.js';
import { BatchRounds } from './batch-rounds.js';
import { readQuarantined } from './read-quarantined.js';
import {
  answeredResult,
  type RunCalls,
  readOnce,
  refuseAll,
  refusedResult,
} from './session-answers.js';
import type {
  CallCheck,
  CallDecision,
  PendingApproval,
  QuarantineAnswer,
  QuarantineRequest,
  SessionBatchOptions,
  SessionGrant,
  SessionResult,
  ToolSession,
  UnfinishedCall,
  UntrustedSource,
} from './session-api.js';
import { type QuestionRef, SessionApprovals } from './session-approvals.js';
import { SessionGrants } from './session-grants.js';
import { personalityIdOf, type ToolSessionParts } from './session-parts.js';

const NEVER = new AbortController().signal;

/** A misspelt `dryRun` would run the calls. */
const BATCH_OPTIONS: OptionNames<SessionBatchOptions & { host?: TurnHost; personality?: string }> =
  {
    abortSignal: true,
    attachments: true,
    resultBudgetChars: true,
    currentTurn: true,
    messageCount: true,
    dryRun: true,
    tools: true,
    onProgress: true,
    onResult: true,
    host: true,
    personality: true,
  };

/** A conversation with tools: what it has read, its questions and its grants. */
export class DefaultToolSession implements ToolSession {
  readonly #parts: ToolSessionParts;
  readonly #grants: SessionGrants;
  readonly #approvals: SessionApprovals;
  readonly #rounds: BatchRounds;

  /**
   * A host calls `runtime.session()` instead.
   *
   * @param parts the ledgers, the tools and the identity of the session
   */
  constructor(parts: ToolSessionParts) {
    this.#parts = parts;
    this.#grants = new SessionGrants(parts);
    this.#approvals = new SessionApprovals(parts, this.#grants);
    this.#rounds = new BatchRounds(parts, this.#grants, this.#approvals);
  }

  get id(): string {
    return this.#parts.id;
  }

  get personalityId(): string {
    return personalityIdOf(this.#parts);
  }

  async definitions(): Promise<ToolDefinition[]> {
    return structuredClone(await this.#parts.tools.definitions(this.personalityId));
  }

  execute(calls: readonly ToolCall[], options: SessionBatchOptions = {}): Promise<SessionResult[]> {
    return this.run(calls, options, (batch, host, own) =>
      this.#execute(batch, { ...options, ...own, host }),
    );
  }

  /**
   * Like `execute`, but the caller runs the batch.
   *
   * @param calls of the model
   * @param options of the batch; `host` has hooks of the caller in addition to those of the session
   * @param runCalls runs the batch with the hooks that it is given
   * @returns the results, in the order of the calls; one that says so if `calls` is not a list.
   * Never rejects
   */
  async run(
    calls: readonly ToolCall[],
    options: SessionBatchOptions & { host?: TurnHost; personality?: string },
    runCalls: RunCalls,
  ): Promise<SessionResult[]> {
    if (!Array.isArray(calls)) return [noList()];
    const batch = readAll(calls);
    try {
      assertOptions('options of a batch', options, BATCH_OPTIONS);
      assertBatchValues('options of a batch', options);
      return await this.#rounds.run(batch, options, runCalls);
    } catch (error) {
      return refuseAll(batch, { error, host: Object(options).host, runCalls });
    }
  }

  async readQuarantined(
    request: QuarantineRequest,
    options: Pick<SessionBatchOptions, 'abortSignal' | 'resultBudgetChars' | 'tools'> = {},
  ): Promise<QuarantineAnswer> {
    const { abortSignal = NEVER, resultBudgetChars, tools }: SessionBatchOptions = Object(options);
    const batchOptions = {
      abortSignal,
      ...(resultBudgetChars !== undefined && { resultBudgetChars }),
      ...(tools !== undefined && { tools }),
    };
    return readQuarantined(request, {
      signal: abortSignal,
      run: (calls, quarantined) =>
        this.#rounds.run(readAll(calls), { ...batchOptions, quarantined }, (batch, host, own) =>
          this.#execute(batch, { ...batchOptions, ...own, host }),
        ),
    });
  }

  async refuse(
    call: ToolCall,
    why: { code: 'not_available' | 'input_invalid'; error: string },
  ): Promise<SessionResult> {
    const read = readOnce(call);
    const { code, error } = reasonOf(why);
    const cause = code === 'input_invalid' ? 'INPUT_INVALID' : 'TOOL_NOT_FOUND';
    const result: ToolResult = { ok: false, code, error, cause };
    try {
      const host = { answers: () => ({ result }), gate: () => ({ refuse: error }) };
      const [answer] = await this.#execute([read], {
        host,
        resultBudgetChars: Number.MAX_SAFE_INTEGER,
      });
      // If the call can't be recorded, the registry says so.
      return answeredResult(read, answer?.result ?? result);
    } catch (thrown) {
      return refusedResult(read, thrown);
    }
  }

  async check(call: ToolCall): Promise<CallCheck> {
    const read = readOnce(call);
    try {
      const checked = await this.#rounds.check(read);
      if (checked.kind !== 'refused') return checked;
      return { kind: 'refused', result: answeredResult(read, checked.result) };
    } catch (error) {
      return { kind: 'refused', result: refusedResult(read, error) };
    }
  }

  pending(): Promise<PendingApproval[]> {
    return this.#approvals.list();
  }

  unfinished(): Promise<UnfinishedCall[]> {
    return this.#approvals.unfinished();
  }

  withdraw(waiting: QuestionRef): Promise<boolean> {
    return this.#approvals.withdraw(waiting);
  }

  decide(waiting: QuestionRef, decision: CallDecision): Promise<void> {
    return this.#approvals.decide(waiting, decision, this.personalityId);
  }

  async resume(options: SessionBatchOptions = {}): Promise<SessionResult[]> {
    const { ledger } = this.#parts;
    await ledger.refresh();
    // Decisions of an agent's turn are left to its loop.
    const decided = ledger.waiting.filter(
      ({ approval: { decision, turn } }) => decision !== undefined && turn === undefined,
    );
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

  async addSource(given: UntrustedSource): Promise<void> {
    const { source, tool }: Partial<UntrustedSource> = Object(given);
    if (typeof source !== 'string' || typeof tool !== 'string') {
      throw new EthosError(
        'INPUT_INVALID',
        'addSource takes { source, tool }: where the content came from, and who read it, as texts',
      );
    }
    const { ledger } = this.#parts;
    await ledger.refresh();
    await ledger.addSources([{ source, tool }]);
  }

  async grants(): Promise<SessionGrant[]> {
    const personality = await this.#parts.tools.personality(this.personalityId);
    return structuredClone(await this.#grants.list(personality));
  }

  async revoke(grantId: string): Promise<boolean> {
    const personality = await this.#parts.tools.personality(this.personalityId);
    return this.#grants.revoke(grantId, personality);
  }

  async end(): Promise<void> {
    await this.#parts.tools.endSession?.(this.id);
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
}

/** The answer to what is no batch, such as one call outside a list, or a promise. */
function noList(): SessionResult {
  return answeredResult(
    { toolCallId: '', name: '', args: undefined },
    {
      ok: false,
      code: 'input_invalid',
      error:
        'no call ran: calls is not a list; give a list of calls, each with toolCallId, name and args',
      cause: 'INPUT_INVALID',
    },
  );
}

/** Each call is read once; a host may pass anything. */
function readAll(calls: readonly ToolCall[]): readonly ToolCall[] {
  return Array.from(calls, readOnce);
}

/** Plain JavaScript may give no reason. The call is refused all the same. */
function reasonOf(why: unknown): { code: 'not_available' | 'input_invalid'; error: string } {
  const { code, error }: { code?: unknown; error?: unknown } = Object(why);
  return {
    code: code === 'input_invalid' ? code : 'not_available',
    error: typeof error === 'string' ? error : 'the host refused the call, and gave no reason',
  };
}
