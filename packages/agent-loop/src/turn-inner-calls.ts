import { InnerCalls, type TurnHost, type UntrustedSource } from '@ethosagent/core';
import { canonicalJson, shorten } from '@ethosagent/policy';
import {
  type DelegationProvider,
  EthosError,
  type PersonalityConfig,
  type ToolProgressEvent,
  type TurnAttachment,
} from '@ethosagent/types';
import type { AgentLoopOptions } from './api.js';
import type { Journal, JournalClaim } from './journal/journal.js';
import type { AgentRecord } from './journal/records.js';
import type { LoopApprovals } from './loop-approvals.js';
import type { TurnLimits } from './options.js';
import { callsText } from './outcome.js';

/** The parts of a batch that the calls of its tools use. */
export interface TurnInnerCallsParts {
  options: AgentLoopOptions;
  limits: TurnLimits;
  journal: Journal;
  now: () => number;
  sessionId: string;
  attachments: readonly TurnAttachment[];
  turn: number;
  /** The untrusted content that may have influenced the calls. */
  sources: readonly UntrustedSource[];
  approvals: LoopApprovals;
  delegation: DelegationProvider | undefined;
  claim: JournalClaim | undefined;
  /** The limit that the turn has reached. */
  whyOver: () => string | undefined;
}

/** The methods of a batch for the calls that its tools make. */
export interface InnerCallsBatch {
  /** @throws as `Journal.append` */
  write: (record: AgentRecord) => Promise<void>;
  onProgress: (event: ToolProgressEvent, toolCallId: string) => void;
}

const MAX_ARGS_CHARS = 200;

/**
 * The calls that tools of a turn make. They are calls of the turn: each is recorded before it runs
 * and after it has run.
 */
export class TurnInnerCalls {
  readonly #parts: TurnInnerCallsParts;
  readonly #batch: InnerCallsBatch;
  /**
   * How many calls were made and are not in the journal, because they have not begun or were
   * refused.
   */
  #unwritten = 0;

  constructor(parts: TurnInnerCallsParts, batch: InnerCallsBatch) {
    this.#parts = parts;
    this.#batch = batch;
  }

  /** Returns the calls for the host of the batch. */
  of(personality: PersonalityConfig): NonNullable<TurnHost['calls']> {
    const { options, sources, turn, approvals, now, limits, journal, attachments } = this.#parts;
    const { sessionId, delegation, claim } = this.#parts;
    const book = approvals.session.book(personality, {
      turn,
      sources,
      inputs: new Map(),
      over: new Set(),
    });
    return new InnerCalls({
      // Under one that is no longer valid, the batch of the call is refused, and recorded.
      personality: () => options.tools.personality(personality.id).catch(() => personality),
      tool: (name) => options.tools.tool(name),
      known: () => ({ isTainted: sources.length > 0, sources }),
      approve: options.approve,
      grants: () => approvals.grants(personality),
      grant: (approval, decision) => book.grant(approval, decision),
      files: approvals.files,
      now,
      begin: () => this.#begin(),
      execute: ({ toolCallId, name, args, parent }, host, abortSignal) =>
        options.tools.execute([{ toolCallId, name, args }], {
          ...options.identity,
          personality: personality.id,
          sessionId,
          currentTurn: turn,
          messageCount: journal.log.messageCount,
          abortSignal,
          resultBudgetChars: limits.resultBudgetChars,
          attachments,
          protections: 'none',
          host: {
            ...host,
            ...(delegation !== undefined && { delegation }),
            ...(claim !== undefined && { assertOwned: () => claim.assertHeld() }),
            beforeRun: async () => {
              abortSignal.throwIfAborted();
              const given = canonicalJson(args ?? null);
              const shown = shorten(host.secrets?.redact(given) ?? given, MAX_ARGS_CHARS);
              const call = { call: toolCallId, name, args: shown.toWellFormed() };
              await this.#batch.write({ kind: 'inner', turn, parent: parent.toolCallId, ...call });
              this.#unwritten -= 1;
              abortSignal.throwIfAborted();
              journal.count({ calls: 1, costUsd: 0 });
              claim?.assertHeld();
            },
            onProgress: (event) => this.#batch.onProgress(event, parent.toolCallId),
          },
        }),
      end: async ({ toolCallId }, { result, ran, source }) => {
        if (!ran) return;
        const cost = result.ok ? Number(result.cost_usd) : 0;
        if (cost > 0) journal.count({ calls: 0, costUsd: cost });
        await this.#batch.write({
          kind: 'inner_result',
          turn,
          call: toolCallId,
          ok: result.ok,
          ...(cost > 0 && Number.isFinite(cost) && { costUsd: cost }),
          ...(source !== undefined && { untrusted: true, source }),
        });
      },
    }).of;
  }

  /** @throws `TURN_LIMIT` */
  #begin(): void {
    const { limits, journal, whyOver } = this.#parts;
    const made = (journal.log.turn?.calls ?? 0) + this.#unwritten;
    const why = made >= limits.maxCalls ? callsText(limits.maxCalls) : whyOver();
    if (why !== undefined) throw new EthosError('TURN_LIMIT', why);
    this.#unwritten += 1;
  }
}
