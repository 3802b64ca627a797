import {
  type CallDecision,
  checkOffRecord,
  createGrant,
  isSameDecision,
  type PendingApproval,
  type SessionGrant,
  type SessionLedgers,
  sessionRef,
  settleDecision,
  type UntrustedFiles,
  type UntrustedSource,
} from '@ethosagent/core';
import { EthosError, errorCodeOf, type PersonalityConfig } from '@ethosagent/types';
import type { AgentLoopOptions } from './api.js';
import type { Journal } from './journal/journal.js';
import type { SessionLog } from './journal/session-log.js';

/** What a call was asked with. */
interface Asked {
  approval: Pick<PendingApproval, 'toolCallId' | 'question'>;
  decision: CallDecision;
  personality: PersonalityConfig;
  sources: readonly UntrustedSource[];
}

export interface LoopApprovalsParts {
  options: AgentLoopOptions;
  ledgers: SessionLedgers;
  sessionId: string;
  /** The session whose grants a sub-agent may go by: that of the agent at the top. */
  grantsOf: string | undefined;
}

/** Attempts to write a decision while others write too. */
const MAX_ATTEMPTS = 10;

/** Decisions and grants of a session that an agent runs. */
export class LoopApprovals {
  readonly #parts: LoopApprovalsParts;

  constructor(parts: LoopApprovalsParts) {
    this.#parts = parts;
  }

  get files(): UntrustedFiles {
    return this.#parts.ledgers.files;
  }

  /** The grants that hold for calls under a personality. */
  async grants(personality: PersonalityConfig): Promise<SessionGrant[]> {
    const { grantsOf, sessionId } = this.#parts;
    const inherits = personality.safety?.approvals?.sub_agents === 'inherit';
    if (grantsOf !== undefined && !inherits) return [];
    const ledgers = this.#ledgers(personality, grantsOf ?? sessionId);
    await Promise.all(ledgers.map((ledger) => ledger.refresh()));
    return ledgers.flatMap(({ grants }) => grants);
  }

  /**
   * Writes a decision into the journal.
   * @throws `TURN_INVALID` when no such call waits, `ALREADY_DECIDED` when it is decided otherwise; as
   * `ToolSession.decide`
   */
  async decide(journal: Journal, asked: Asked): Promise<void> {
    const { options, sessionId } = this.#parts;
    const { approval, personality, sources } = asked;
    if (typeof asked.decision.approved !== 'boolean') {
      throw new EthosError('TURN_INVALID', '`approved` is neither true nor false');
    }
    const waiting = waitingCall(journal.log, approval);
    if (isDecided(waiting, asked.decision)) return;
    const { decision, shown } = await settleDecision(waiting, asked.decision, {
      personality,
      check: (call) =>
        checkOffRecord(call, {
          tools: options.tools,
          sessionId,
          identity: options.identity ?? {},
          personality,
          isTainted: sources.length > 0,
          sources,
          now: options.now ?? Date.now,
        }),
    });
    const { toolCallId: call, question } = waiting;
    const turn = journal.log.turn?.turn ?? 0;
    await journal.append({ kind: 'decided', turn, call, question, ...decision });
    if (asked.decision.always !== undefined) await this.grant({ ...asked, approval: shown });
  }

  /** @throws `APPROVAL_INVALID` */
  async grant({
    approval,
    decision,
    personality,
    sources,
  }: Omit<Asked, 'approval'> & { approval: PendingApproval }): Promise<void> {
    const { options, sessionId } = this.#parts;
    const grant = createGrant(approval, decision, {
      personality,
      tool: options.tools.tool(approval.toolName),
      sources,
      owner: options.identity ?? {},
      now: options.now ?? Date.now,
    });
    const [ofSession, ofOwner] = this.#ledgers(personality, sessionId);
    await (grant.scope === 'session' ? ofSession : ofOwner)?.append(() => [
      { kind: 'granted', grant },
    ]);
  }

  /** Ends a grant, and says whether it was there. */
  async revoke(personality: PersonalityConfig, grantId: string): Promise<boolean> {
    for (const ledger of this.#ledgers(personality, this.#parts.sessionId)) {
      await ledger.refresh();
      if (!ledger.grants.some(({ id }) => id === grantId)) continue;
      await ledger.append(() => [{ kind: 'revoked', grant: grantId }]);
      return true;
    }
    return false;
  }

  #ledgers({ id }: PersonalityConfig, sessionId: string) {
    const { options, ledgers } = this.#parts;
    const owner = sessionRef(sessionId, id, options.identity);
    return [ledgers.ofSession(sessionId, owner), ledgers.ofOwner(id, owner)];
  }
}

/** The call that waits for an answer to a question. @throws `TURN_INVALID` */
function waitingCall(
  log: SessionLog,
  { toolCallId, question }: Pick<PendingApproval, 'toolCallId' | 'question'>,
): PendingApproval {
  const waiting = log.openCalls().find(({ call }) => call.id === toolCallId)?.approval;
  if (waiting === undefined) {
    throw new EthosError('TURN_INVALID', `no call ${toolCallId} of the session waits`);
  }
  if (waiting.question === question) return waiting;
  throw new EthosError(
    'TURN_INVALID',
    `${toolCallId} asks for something else by now; look at \`pending\` and decide again`,
  );
}

/** Whether the very decision was made. @throws `ALREADY_DECIDED` where another one was */
function isDecided({ decision, toolCallId }: PendingApproval, now: CallDecision): boolean {
  if (decision === undefined) return false;
  if (isSameDecision(decision, now)) return true;
  throw new EthosError('ALREADY_DECIDED', `it is decided on ${toolCallId} already`);
}

/** Does again what another writer came before. */
export async function decideAgain(decide: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await decide();
      return;
    } catch (error) {
      if (errorCodeOf(error) !== 'SESSION_CHANGED' || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
