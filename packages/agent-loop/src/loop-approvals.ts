import {
  SessionApprovals,
  type SessionGrant,
  SessionGrants,
  type SessionLedger,
  type SessionLedgers,
  sessionRef,
  type UntrustedFiles,
} from '@ethosagent/core';
import type { PersonalityConfig } from '@ethosagent/types';
import type { AgentLoopOptions } from './api.js';
import { TurnQuestions } from './turn-questions.js';

export interface LoopApprovalsParts {
  options: AgentLoopOptions;
  ledgers: SessionLedgers;
  ledger: SessionLedger;
  sessionId: string;
  /** The session whose grants a sub-agent may use: that of the agent at the top. */
  grantsOf: string | undefined;
}

/** The questions and grants of a session, for the turns of an agent. */
export class LoopApprovals {
  /** The questions of the session and of its turns. */
  readonly session: SessionApprovals;
  readonly #parts: LoopApprovalsParts;
  readonly #own: SessionGrants;

  constructor(parts: LoopApprovalsParts) {
    const { sessionId, ledger, options } = parts;
    const { tools, identity = {}, now = Date.now } = options;
    this.#parts = parts;
    this.#own = this.#grantsOf(sessionId, ledger);
    this.session = new SessionApprovals({ id: sessionId, tools, identity, ledger, now }, this.#own);
  }

  get files(): UntrustedFiles {
    return this.#parts.ledgers.files;
  }

  questions(turn: number): TurnQuestions {
    return new TurnQuestions({ approvals: this.session, ledger: this.#parts.ledger, turn });
  }

  /** The grants that apply to calls under a personality. */
  async grants(personality: PersonalityConfig): Promise<SessionGrant[]> {
    const { grantsOf, ledgers, options } = this.#parts;
    if (grantsOf === undefined) return this.#own.list(personality);
    if (personality.safety?.approvals?.sub_agents !== 'inherit') return [];
    const above = ledgers.ofSession(grantsOf, options.identity ?? {});
    return this.#grantsOf(grantsOf, above).list(personality);
  }

  /** Ends a grant. Returns whether it existed. */
  revoke(personality: PersonalityConfig, grantId: string): Promise<boolean> {
    return this.#own.revoke(grantId, personality);
  }

  #grantsOf(sessionId: string, ledger: SessionLedger): SessionGrants {
    const { options, ledgers } = this.#parts;
    const { tools, identity = {}, now = Date.now } = options;
    const ownerLedger = (personalityId: string) =>
      ledgers.ofOwner(personalityId, sessionRef(sessionId, personalityId, identity));
    return new SessionGrants({ tools, identity, ledger, ownerLedger, now });
  }
}
