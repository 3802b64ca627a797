import { assertLease, assertTurnKey, checkedTurn, turnInputOf, wholeMs } from '@ethosagent/policy';
import type { NewTurn, OpenedStore, StoredTurn, TurnState, TurnStore } from '@ethosagent/types';
import { Database, momentFor } from '../database/database.js';
import { checkedOptions, type PostgresOptions } from '../database/options.js';
import type { PostgresStore } from '../postgres-stores.js';
import { schedulesOf } from './postgres-schedules.js';
import { turnStatements } from './turn-statements.js';

const STATES = ['waiting', 'running', 'paused', 'done', 'failed', 'cancelled'] as const;

interface TurnRow
  extends Omit<
    StoredTurn,
    | 'id'
    | 'sessionId'
    | 'tenant'
    | 'message'
    | 'answer'
    | 'after'
    | 'prompt'
    | 'untrusted'
    | 'attachments'
  > {
  id: Buffer;
  sessionId: Buffer;
  tenant: Buffer;
  message: string | null;
  answer: string | null;
  after: Buffer[];
  input: string;
}

/**
 * Creates a store of turns in a PostgreSQL database, which may be that of `createPostgresStores`. A
 * fleet takes its turns from it. A connection is made when the store is opened.
 *
 * @param options a URL, or options with a URL
 * @returns the store, to be opened
 * @throws `CONFIG_INVALID` for an invalid option; the message never contains the URL
 */
export function createPostgresTurns(options: string | PostgresOptions): PostgresStore<TurnStore> {
  const database = new Database(
    checkedOptions(typeof options === 'string' ? { url: options } : options, 'createPostgresTurns'),
  );
  return {
    async open(): Promise<Required<OpenedStore<TurnStore>>> {
      const close = await database.open();
      return {
        store: turnsOf(database),
        close,
        problem: () => database.problem(),
      };
    },
  };
}

function turnsOf(database: Database): TurnStore {
  const statements = turnStatements(database.schema);
  const run = <Row extends object>(
    statement: keyof typeof statements,
    ...values: readonly unknown[]
  ): Promise<Row[]> =>
    database.run<Row>(statements[statement], [...values, momentFor(database) ?? null]);
  const plain = <Row extends object>(
    statement: keyof typeof statements,
    ...values: readonly unknown[]
  ): Promise<Row[]> => database.run<Row>(statements[statement], values);
  const one = async (rows: Promise<TurnRow[]>) => {
    const [row] = await rows;
    return row === undefined ? null : turnOf(row);
  };
  return {
    ...schedulesOf(database),
    async put(turn) {
      return (await run('put', ...valuesOf(turn))).length > 0;
    },
    take: ({ leaseMs }) => one(run('take', assertLease(leaseMs))),
    get: (id) => one(plain('get', idBytes(id))),
    async extend(taken, { leaseMs }) {
      if (taken.length === 0) return [];
      const rows = await run<{ id: Buffer; isCancelled: boolean }>(
        'extend',
        taken.map(({ id }) => idBytes(id)),
        taken.map(({ taking }) => taking),
        assertLease(leaseMs),
      );
      return rows.map(({ id, isCancelled }) => ({ id: id.toString(), isCancelled }));
    },
    async settle({ id, taking, wakes }, { state, delayMs = 0, isFailure = false, ...said }) {
      const [row] = await run<{ isMore: boolean }>(
        'settle',
        ...[idBytes(id), taking, wakes, state, wholeMs('delayMs', delayMs), isFailure],
        ...[textOf(said.message), textOf(said.answer)],
      );
      return row === undefined ? null : { isMore: row.isMore };
    },
    async wake(sessionId, { delayMs = 0 } = {}) {
      return (await run('wake', idBytes(sessionId), wholeMs('delayMs', delayMs))).length > 0;
    },
    async cancel(id) {
      return (await run('cancel', idBytes(id))).length > 0;
    },
    async due() {
      const [row] = await run<{ due: number; nextInMs: number | null }>('due');
      const { due = 0, nextInMs = null } = row ?? {};
      return { due, ...(nextInMs !== null && { nextInMs }) };
    },
    async counts() {
      const rows = await plain<{ state: TurnState; count: number }>('counts');
      const of = (state: TurnState) => rows.find((row) => row.state === state)?.count ?? 0;
      return {
        waiting: of('waiting'),
        running: of('running'),
        paused: of('paused'),
        done: of('done'),
        failed: of('failed'),
        cancelled: of('cancelled'),
      };
    },
    async addEvents({ id, taking }, events) {
      const rows = await plain('addEvents', idBytes(id), taking, events.map(jsonOf));
      return rows.length > 0;
    },
    async events(sessionId, after) {
      const rows = await plain<{ position: number; turnId: Buffer; data: string }>(
        'events',
        idBytes(sessionId),
        wholeMs('after', after),
      );
      return rows.map(({ position, turnId, data }) => ({
        position,
        turnId: turnId.toString(),
        data: JSON.parse(data),
      }));
    },
    async sweep({ olderThanMs }) {
      return (await run('sweep', wholeMs('olderThanMs', olderThanMs))).length;
    },
  };
}

function valuesOf(turn: NewTurn): unknown[] {
  const row = checkedTurn(turn);
  return [
    Buffer.from(row.id),
    Buffer.from(row.sessionId),
    Buffer.from(row.tenant),
    row.priority,
    row.delayMs,
    row.maxAttempts,
    row.backoffMs,
    row.input,
    row.rates.length === 0 ? null : JSON.stringify(row.rates),
    row.after.length === 0 ? null : row.after.map((id) => Buffer.from(id)),
  ];
}

function turnOf({
  id,
  sessionId,
  tenant,
  input,
  after,
  message,
  answer,
  ...row
}: TurnRow): StoredTurn {
  return {
    ...row,
    ...turnInputOf(input),
    id: id.toString(),
    sessionId: sessionId.toString(),
    tenant: tenant.toString(),
    after: after.map(String),
    state: STATES.find((state) => state === row.state) ?? 'failed',
    ...(message !== null && { message }),
    ...(answer !== null && { answer }),
  };
}

function idBytes(id: string): Buffer {
  return Buffer.from(assertTurnKey(id));
}

/** Replaces NUL and lone surrogates, which PostgreSQL can't store in a text. */
function textOf(text: string | undefined): string | null {
  return text?.toWellFormed().replaceAll('\0', '\uFFFD') ?? null;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
