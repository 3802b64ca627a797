import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import { isGrantOf } from './grants.js';
import type {
  CallDecision,
  PendingApproval,
  SessionGrant,
  UntrustedSource,
} from './session-api.js';
import type { SessionLedger } from './session-ledger.js';
import type { ToolSessionParts } from './session-parts.js';
import { createGrant } from './settle-decision.js';

export type SessionGrantsParts = Pick<
  ToolSessionParts,
  'ledger' | 'ownerLedger' | 'identity' | 'tools' | 'now'
>;

/** The grants that apply in a session: its own, and those of its owner. */
export class SessionGrants {
  readonly #parts: SessionGrantsParts;

  /**
   * Reads and writes the grants of one session.
   *
   * @param parts the ledgers of the session and of its owner
   */
  constructor(parts: SessionGrantsParts) {
    this.#parts = parts;
  }

  /**
   * The grants that apply under a personality.
   *
   * @param personality its id
   * @returns those of the session first, then those of its owner
   * @throws as `SessionLedger.refresh`
   */
  async list({ id }: PersonalityConfig): Promise<SessionGrant[]> {
    const ledgers = this.#ledgersOf(id);
    await Promise.all(ledgers.map((ledger) => ledger.refresh()));
    return ledgers.flatMap(({ grants }) =>
      grants.filter((grant) => isGrantOf(grant, this.#parts.identity)),
    );
  }

  /**
   * Adds a grant for later calls.
   *
   * @param approval the call that was approved
   * @param decision the yes, with what it grants
   * @param options the personality, the untrusted sources that the session knows, the generation of
   * its ledger when the person was asked, and what must still hold when the grant is recorded
   * @throws `APPROVAL_INVALID` for a grant that the personality does not allow; `SESSION_CHANGED` if
   * the session was deleted since the person was asked; what `assertOpen` throws
   */
  async add(
    approval: PendingApproval,
    decision: CallDecision,
    {
      personality,
      sources,
      generation,
      assertOpen,
    }: {
      personality: PersonalityConfig;
      sources: readonly UntrustedSource[];
      generation: number;
      assertOpen?: () => void;
    },
  ): Promise<void> {
    const { ledger, ownerLedger, tools, identity: owner, now } = this.#parts;
    await ledger.refresh();
    const grant = createGrant(approval, decision, {
      personality,
      tool: tools.tool(approval.toolName),
      sources,
      owner,
      now,
    });
    const to = grant.scope === 'session' ? ledger : ownerLedger(personality.id);
    await to.append(() => {
      if (ledger.generation !== generation) {
        throw new EthosError(
          'SESSION_CHANGED',
          'the session was deleted while a person was asked, so nothing is granted; call again in the new session',
        );
      }
      assertOpen?.();
      return [{ kind: 'granted', grant }];
    });
  }

  /**
   * Ends a grant.
   *
   * @param grantId as `list` shows it
   * @param personality its id
   * @returns whether there was such a grant
   * @throws as `SessionLedger.append`
   */
  async revoke(grantId: string, { id }: PersonalityConfig): Promise<boolean> {
    for (const ledger of this.#ledgersOf(id)) {
      await ledger.refresh();
      if (!ledger.grants.some((grant) => grant.id === grantId)) continue;
      await ledger.append(() => [{ kind: 'revoked', grant: grantId }]);
      return true;
    }
    return false;
  }

  #ledgersOf(personalityId: string): SessionLedger[] {
    const { ledger, ownerLedger } = this.#parts;
    return [ledger, ownerLedger(personalityId)];
  }
}
