import { turnInputOf } from '@ethosagent/policy';
import type { StoredTurn, TurnRate } from '@ethosagent/types';
import type { Connection } from '../driver/connection.js';

const STATES = ['waiting', 'running', 'paused', 'done', 'failed', 'cancelled'] as const;

/** The columns of a turn. */
export interface TurnColumns
  extends Omit<
    StoredTurn,
    | 'wasPaused'
    | 'isCancelled'
    | 'message'
    | 'answer'
    | 'prompt'
    | 'untrusted'
    | 'attachments'
    | 'after'
  > {
  place: number;
  wasPaused: number;
  isCancelled: number;
  message: string | null;
  answer: string | null;
  input: string;
  rates: string;
  after: string;
}

/** Returns the SQL of the columns, from `turn AS t`. */
export function turnColumnsOf(db: Connection): string {
  return `t.place AS place, ${db.text('t.id')} AS id, ${db.text('t.session_id')} AS sessionId,
    ${db.text('t.tenant')} AS tenant, t.priority AS priority, t.state AS state, t.run_at AS runAt,
    t.taking AS taking, t.wakes AS wakes, t.attempts AS attempts, t.losses AS losses,
    t.max_attempts AS maxAttempts, t.backoff_ms AS backoffMs, t.was_paused AS wasPaused,
    t.is_cancelled AS isCancelled, ${db.text('t.message')} AS message,
    ${db.text('t.answer')} AS answer, ${db.text('t.rates')} AS rates, ${db.text('t.input')} AS input,
    (SELECT json_group_array(a.id) FROM turn_after AS a WHERE a.turn = t.place) AS after`;
}

export function turnOf(row: TurnColumns): StoredTurn {
  const { place: _, rates: __, input, after, message, answer, state, ...rest } = row;
  const { wasPaused, isCancelled } = row;
  return {
    ...rest,
    ...turnInputOf(input),
    after: JSON.parse(after),
    wasPaused: wasPaused !== 0,
    isCancelled: isCancelled !== 0,
    state: STATES.find((known) => known === state) ?? 'failed',
    ...(message !== null && { message }),
    ...(answer !== null && { answer }),
  };
}

export function ratesOf({ rates }: Pick<TurnColumns, 'rates'>): TurnRate[] {
  return JSON.parse(rates);
}
