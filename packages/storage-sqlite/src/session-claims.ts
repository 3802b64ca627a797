import { assertHolds } from '@ethosagent/policy';
import type { SessionAppendOptions, SessionClaim } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';

/** Prepares the statements on claims. The caller must run them within a transaction. */
export function prepareClaims(db: Connection) {
  const find = db.prepare<[rowid: number], { epoch: number; heldUntil: number }>(
    'SELECT epoch, held_until AS heldUntil FROM session WHERE id = ?',
  );
  const raise = db.prepareColumn<[], number>(
    'UPDATE last_epoch SET epoch = epoch + 1 RETURNING epoch',
  );
  const take = db.prepare<[epoch: number, until: number, rowid: number]>(
    'UPDATE session SET epoch = ?, held_until = ? WHERE id = ?',
  );
  const extend = db.prepare<[until: number, id: string, epoch: number, now: number]>(
    'UPDATE session SET held_until = ? WHERE session_id = ? AND epoch = ? AND held_until > ?',
  );

  return {
    /**
     * Checks that the caller may append to a session.
     * @throws `SESSION_TAKEN` if another worker holds the session, or if the claim of `epoch` no
     * longer holds
     */
    assertHolds(rowid: number, now: number, opts: Pick<SessionAppendOptions, 'epoch' | 'aside'>) {
      const { epoch, heldUntil } = find.get(rowid) ?? { epoch: 0, heldUntil: 0 };
      assertHolds({ epoch, isHeld: heldUntil > now }, opts);
    },
    take(rowid: number, now: number, leaseMs: number): number | undefined {
      if ((find.get(rowid)?.heldUntil ?? 0) > now) return undefined;
      const epoch = raise.get() ?? 0;
      take.run(epoch, now + leaseMs, rowid);
      return epoch;
    },
    /** Extends a claim, if it still holds. */
    extend({ sessionId, epoch }: SessionClaim, now: number, until: number): boolean {
      return Number(extend.run(until, sessionId, epoch, now).changes) > 0;
    },
  };
}
