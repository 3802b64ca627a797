import {
  type ApprovalBook,
  SessionApprovals,
  type SessionGrant,
  type SessionLedger,
  type SessionLedgers,
  sessionRef,
  type UntrustedFiles,
  type UntrustedSource,
} from '@ethosagent/core';
import type { PersonalityConfig } from '@ethosagent/types';
import type { AgentLoopOptions } from './api.js';
import { TurnQuestions } from './turn-questions.js';

export interface LoopApprovalsParts {
  options: AgentLoopOptions;
  ledgers: SessionLedgers;
  ledger: SessionLedger;
  sessionId: string;
  /** The session whose grants a sub-agent may go by: that of the agent at the top. */
  grantsOf: string | undefined;
}

/** What a batch of calls says of itself to whoever is asked. */
export interface AskingBatch {
  personality: PersonalityConfig;
  /** The untrusted content that may have had a part in the calls. */
  sources: readonly UntrustedSource[];
  inputOf: ApprovalBook['inputOf'];
  isOver: ApprovalBook['isOver'];
}

/** The questions and the grants of a session, for the turns of an agent. */
export class LoopApprovals {
  readonly session: SessionApprovals;
  readonly #parts: LoopApprovalsParts;

  constructor(parts: LoopApprovalsParts) {
    const { sessionId, ledger } = parts;
    this.#parts = parts;
    this.session = this.#of(sessionId, ledger);
  }

  get files(): UntrustedFiles {
    return this.#parts.ledgers.files;
  }

  /** The questions about the calls of a turn. */
  questions(turn: number): TurnQuestions {
    return new TurnQuestions({ approvals: this.session, ledger: this.#parts.ledger, turn });
  }

  /** The grants that hold for calls under a personality. */
  async grants(personality: PersonalityConfig): Promise<SessionGrant[]> {
    const { grantsOf, ledgers, options } = this.#parts;
    if (grantsOf === undefined) return this.session.grants(personality);
    const inherits = personality.safety?.approvals?.sub_agents === 'inherit';
    if (!inherits) return [];
    const above = ledgers.ofSession(grantsOf, options.identity ?? {});
    return this.#of(grantsOf, above).grants(personality);
  }

  /** Where the questions of a batch of a turn are written down. */
  book(turn: number, { personality, sources, inputOf, isOver }: AskingBatch): ApprovalBook {
    const { find } = this.questions(turn);
    return {
      find,
      inputOf,
      isOver,
      ask: (approval) => this.session.ask({ ...approval, turn }, sources),
      decide: (approval, decision) => this.session.decide(approval, decision, personality),
      grant: (approval, decision) =>
        this.session.grant(approval, decision, { personality, sources }),
    };
  }

  #of(sessionId: string, ledger: SessionLedger): SessionApprovals {
    const { options, ledgers } = this.#parts;
    const { tools, identity = {}, now = Date.now } = options;
    return new SessionApprovals({
      sessionId,
      tools,
      identity,
      ledger,
      ownerLedger: (personalityId) =>
        ledgers.ofOwner(personalityId, sessionRef(sessionId, personalityId, identity)),
      now,
    });
  }
}
