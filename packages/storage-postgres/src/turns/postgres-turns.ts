import { assertKvKey, assertLease, DEFAULT_KV_LIMITS, isObject } from '@ethosagent/policy';
import type {
  AttachmentInfo,
  NewTurn,
  OpenedStore,
  StoredTurn,
  TurnState,
  TurnStore,
} from '@ethosagent/types';
import { EthosError } from '@ethosagent/types';
import { Database, momentFor } from '../database/database.js';
import { checkedOptions, type PostgresOptions } from '../database/options.js';
import type { PostgresStore } from '../postgres-stores.js';
import { turnStatements } from './turn-statements.js';

const MAX_INPUT_CHARS = 10_000_000;
const STATES = ['waiting', 'running', 'paused', 'done', 'failed', 'cancelled'] as const;

interface TurnRow
  extends Omit<StoredTurn, 'id' | 'sessionId' | 'tenant' | 'message' | keyof Input> {
  id: Buffer;
  sessionId: Buffer;
  tenant: Buffer;
  message: string | null;
  input: string;
}

/** What of a turn no statement asks for. */
interface Input {
  prompt: string;
  untrusted: boolean;
  attachments: readonly AttachmentInfo[];
}

/**
 * The turns that are to run, in the database of `createPostgresStores`. Nothing is connected until it
 * is opened.
 *
 * @throws `CONFIG_INVALID`, which never shows the URL
 */
export function createPostgresTurns(options: string | PostgresOptions): PostgresStore<TurnStore> {
  const database = new Database(
    checkedOptions(typeof options === 'string' ? { url: options } : options),
  );
  return {
    async open(): Promise<Required<OpenedStore<TurnStore>>> {
      await database.open();
      return {
        store: turnsOf(database),
        close: () => database.close(),
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
    async settle({ id, taking, wakes }, { state, delayMs = 0, isFailure = false, message = null }) {
      const [row] = await run<{ isMore: boolean }>(
        'settle',
        ...[idBytes(id), taking, wakes, state, whole('delayMs', delayMs), isFailure, message],
      );
      return row === undefined ? null : { isMore: row.isMore };
    },
    async wake(sessionId, { delayMs = 0 } = {}) {
      return (await run('wake', idBytes(sessionId), whole('delayMs', delayMs))).length > 0;
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
        whole('after', after),
      );
      return rows.map(({ position, turnId, data }) => ({
        position,
        turnId: turnId.toString(),
        data: JSON.parse(data),
      }));
    },
    async sweep({ olderThanMs }) {
      return (await run('sweep', whole('olderThanMs', olderThanMs))).length;
    },
  };
}

function valuesOf(turn: NewTurn): unknown[] {
  const { id, sessionId, tenant = '', priority = 0, delayMs = 0, rates = [] } = turn;
  const { maxAttempts = 5, backoffMs = 1_000 } = turn;
  const { prompt, untrusted = false, attachments = [] } = turn;
  if (typeof prompt !== 'string') throw invalid('prompt must be a text');
  if (!Number.isInteger(priority) || Math.abs(priority) > 1_000_000) {
    throw invalid('priority must be a whole number of at most 1,000,000');
  }
  const input = jsonOf({ prompt: prompt.toWellFormed(), untrusted, attachments });
  if (input.length > MAX_INPUT_CHARS) throw invalid('the prompt is too long');
  for (const rate of rates) {
    if (!isObject(rate) || idBytes(rate.key).length > 1_000)
      throw invalid('rates need a short key');
    if (whole('max', rate.max) < 1 || whole('perMs', rate.perMs) < 1) {
      throw invalid('max and perMs of a rate are above zero');
    }
  }
  if (tenant !== '') assertKvKey(tenant, DEFAULT_KV_LIMITS);
  return [
    idBytes(id),
    idBytes(sessionId),
    Buffer.from(tenant),
    priority,
    whole('delayMs', delayMs),
    Math.max(1, whole('maxAttempts', maxAttempts)),
    whole('backoffMs', backoffMs),
    input,
    rates.length === 0 ? null : JSON.stringify(rates),
  ];
}

function turnOf({ id, sessionId, tenant, input, message, ...row }: TurnRow): StoredTurn {
  const { prompt, untrusted, attachments }: Input = JSON.parse(input);
  return {
    ...row,
    id: id.toString(),
    sessionId: sessionId.toString(),
    tenant: tenant.toString(),
    prompt,
    untrusted,
    attachments,
    state: STATES.find((state) => state === row.state) ?? 'failed',
    ...(message !== null && { message }),
  };
}

function idBytes(id: string): Buffer {
  assertKvKey(id, DEFAULT_KV_LIMITS);
  return Buffer.from(id);
}

function whole(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= 1e13) return value;
  throw invalid(`${name} must be a whole number from 0`);
}

function jsonOf(value: unknown): string {
  // PostgreSQL takes no NUL in a text; JSON writes it as an escape.
  return JSON.stringify(value) ?? 'null';
}

function invalid(problem: string): EthosError {
  return new EthosError('VALUE_INVALID', `a turn: ${problem}`);
}
