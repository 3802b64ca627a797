import {
  assertKvKey,
  assertLease,
  checkedRef,
  DEFAULT_KV_LIMITS,
  ownerIdentity,
} from '@ethosagent/policy';
import type { SessionClaim, SessionStore } from '@ethosagent/types';
import { type Database, momentFor } from '../database/database.js';
import type { Lanes } from '../database/lanes.js';
import { ownerMismatch } from './owner-mismatch.js';
import type { sessionStatements } from './session-statements.js';

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));

/** Creates the methods that claim sessions of a database. */
export function createClaims({
  database,
  statements,
  lanes,
}: {
  database: Database;
  statements: ReturnType<typeof sessionStatements>;
  lanes: Lanes;
}): Required<Pick<SessionStore, 'claim' | 'renew' | 'release'>> {
  const extend = async (claims: readonly SessionClaim[], leaseMs: number) => {
    for (const { sessionId } of claims) assertKvKey(sessionId, DEFAULT_KV_LIMITS);
    if (claims.length === 0) return [];
    const rows = await database.run<{ sessionId: Buffer; epoch: number }>(statements.renew, [
      claims.map(({ sessionId }) => Buffer.from(sessionId)),
      claims.map(({ epoch }) => epoch),
      leaseMs,
      momentFor(database) ?? null,
    ]);
    return rows.map(({ sessionId, epoch }) => ({ sessionId: sessionId.toString(), epoch }));
  };
  return {
    async claim(session, { leaseMs }) {
      const { id, key, personalityId } = checkedRef(session);
      const values = [
        bytes(id),
        ownerIdentity(session),
        bytes(key),
        bytes(personalityId),
        momentFor(database) ?? null,
        assertLease(leaseMs),
      ];
      const [answer] = await lanes.write(id, () =>
        database.run<{ outcome: string; epoch: number }>(statements.claim, values),
      );
      if (answer?.outcome === 'owner') throw ownerMismatch();
      return answer?.outcome === 'done' ? { sessionId: id, epoch: answer.epoch } : null;
    },
    async renew(claims, { leaseMs }) {
      return extend(claims, assertLease(leaseMs));
    },
    async release(claim) {
      await lanes.write(claim.sessionId, () => extend([claim], 0));
    },
  };
}
