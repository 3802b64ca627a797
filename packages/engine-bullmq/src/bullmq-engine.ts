import { createHash } from 'node:crypto';
import type { Engine, EngineTurn, EngineWork, EngineWorker } from '@ethosagent/agent-loop';
import { EthosError } from '@ethosagent/types';
import { Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';

/** The address of Redis or Valkey, and the options of the queue. */
export interface BullmqEngineOptions {
  /**
   * The address: `redis://user:password@host:port`, `rediss://` for TLS, the path of a socket, or
   * options of ioredis.
   */
  connection: string | RedisOptions;
  /** The name of the queue. `ethos-turns` when absent. */
  queue?: string;
  /** The start of the names of the queue's keys. `bull` when absent. */
  prefix?: string;
  /**
   * Milliseconds that a command waits for an answer of Redis, and so does `close`. 2,000 when absent.
   */
  answerMs?: number;
  /**
   * The number of finished jobs that stay in the queue, for people to look at. 1,000 when absent.
   */
  keepJobs?: number;
}

const OPTIONS: Readonly<Record<keyof BullmqEngineOptions, true>> = {
  connection: true,
  queue: true,
  prefix: true,
  answerMs: true,
  keepJobs: true,
};

/** An engine on BullMQ. */
export interface BullmqEngine extends Engine {
  /** The queue, for Bull Board and other programs that show a queue. */
  readonly queue: Queue;
}

/**
 * The longest delay of a timer of Node, as `MAX_TIMER_MS` of `policy`, which an engine does not import.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A high limit, since a stalled job must not be given up: the turn store still has its turn. */
const MAX_STALLED = 1_000_000;

/**
 * Creates an engine that wakes workers by jobs of BullMQ. A job says only that some turn should
 * run; the turn store says which one. Redis may lose all its data: the workers also look regularly
 * for turns that are due.
 *
 * @param options the connection, the name of the queue, and a time in milliseconds
 * @returns the engine; its methods that change the queue throw `STORE_UNAVAILABLE` if Redis does
 * not answer within `answerMs`
 * @throws `CONFIG_INVALID` for an invalid connection, name of the queue, time or number of jobs, and
 * for an option that there is not
 * @example
 * const engine = createBullmqEngine({ connection: 'redis://redis.example.com' });
 */
export function createBullmqEngine(options: BullmqEngineOptions): BullmqEngine {
  assertConnection(options);
  assertNames(options);
  const { queue: name = 'ethos-turns', prefix = 'bull', answerMs = 2_000 } = options;
  const { keepJobs = 1_000 } = options;
  if (!/^[\w-]+$/.test(name)) throw invalid('queue must be a name of letters, digits, _ and -');
  assertWhole({ answerMs }, { min: 1, max: MAX_TIMER_MS });
  assertWhole({ keepJobs }, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const redis = connect(options.connection);
  const queue = new Queue(name, {
    connection: redis,
    prefix,
    skipVersionCheck: true,
    defaultJobOptions: {
      attempts: 10,
      backoff: { type: 'exponential', delay: 1_000 },
      removeOnComplete: { count: keepJobs },
      removeOnFail: { count: keepJobs },
    },
  });
  // Errors of the queue between two calls need no handling: the next call fails too.
  queue.on('error', () => {});
  const workers = new Set<EngineWorker>();

  return {
    queue,
    async enqueue(turn) {
      const { id, sessionId, priority, delayMs } = turn;
      const job = { turnId: id, sessionId, priority };
      await within(answerMs, queue.add('turn', job, { jobId: jobIdOf(turn), delay: delayMs }));
    },
    async wake(sessionId) {
      await within(answerMs, queue.add('wake', { sessionId }));
    },
    async cancel(turn) {
      // A job that runs is locked, and stays.
      await within(
        answerMs,
        queue.remove(jobIdOf(turn)).catch(() => 0),
      );
    },
    async work(work) {
      const { connection } = options;
      const worker = startWorker(work, { name, prefix, connection, answerMs });
      workers.add(worker);
      return {
        async close() {
          workers.delete(worker);
          await worker.close();
        },
      };
    },
    async problem() {
      try {
        await within(answerMs, redis.ping());
        return undefined;
      } catch (error) {
        return `Redis of the queue ${name} does not answer (${codeOf(error)}); check that it runs, and that this machine may reach it`;
      }
    },
    async close() {
      await Promise.all([...workers].map((worker) => worker.close()));
      await within(answerMs, queue.close()).catch(() => {});
      redis.disconnect();
    },
  };
}

function startWorker(
  { runNext, concurrency }: EngineWork,
  where: {
    name: string;
    prefix: string;
    connection: BullmqEngineOptions['connection'];
    answerMs: number;
  },
): EngineWorker {
  const connection = connect(where.connection);
  const running = new Set<Promise<unknown>>();
  let isClosing = false;
  const run = async () => {
    // BullMQ gives the job to another worker, after a pause.
    if (isClosing) throw new Error('the worker is closing');
    const ends = runNext();
    running.add(ends);
    try {
      await ends;
    } finally {
      running.delete(ends);
    }
  };
  const worker = new Worker(where.name, run, {
    connection,
    prefix: where.prefix,
    concurrency,
    maxStalledCount: MAX_STALLED,
    skipVersionCheck: true,
  });
  worker.on('error', () => {});
  return {
    async close() {
      isClosing = true;
      await worker.pause(true);
      await Promise.allSettled(running);
      // BullMQ itself would wait until Redis can be reached again. A job that it can't report as
      // finished is given to another worker later, which then finds its turn done.
      const isAway = await within(where.answerMs, connection.ping()).then(
        () => false,
        () => true,
      );
      await worker.close(isAway);
      connection.disconnect();
    },
  };
}

function connect(connection: BullmqEngineOptions['connection']): Redis {
  // BullMQ requires this, since its workers wait for jobs without a limit.
  const own: RedisOptions = { maxRetriesPerRequest: null };
  const redis =
    typeof connection === 'string'
      ? new Redis(connection, own)
      : new Redis({ ...connection, ...own });
  // The connection is opened again automatically.
  redis.on('error', () => {});
  return redis;
}

/**
 * Returns the id of a job. BullMQ allows no `:` in it, and the id of a turn may have any character.
 */
function jobIdOf({ id, taking }: Pick<EngineTurn, 'id' | 'taking'>): string {
  return `${createHash('sha256').update(id).digest('base64url').slice(0, 24)}-${taking}`;
}

/** Limits the time of a command, which would otherwise wait until Redis can be reached again. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const away = 'the Redis of the queue does not answer; the turn is stored, and runs later';
      reject(new EthosError('STORE_UNAVAILABLE', away));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'NO_ANSWER';
}

/** Without an address, ioredis would connect to this machine. */
function assertConnection(options: BullmqEngineOptions): void {
  const { connection }: Partial<BullmqEngineOptions> = Object(options);
  const isGiven =
    typeof connection === 'string'
      ? connection !== ''
      : connection instanceof Object && !(connection instanceof Promise);
  if (!isGiven) throw invalid('connection must be the address of Redis, or options of ioredis');
}

function assertNames(options: BullmqEngineOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown === undefined) return;
  const known = Object.keys(OPTIONS).join(', ');
  throw invalid(`there is no option ${JSON.stringify(unknown)}; there are ${known}`);
}

function assertWhole(
  option: Readonly<Record<string, number>>,
  { min, max }: { min: number; max: number },
): void {
  for (const [name, value] of Object.entries(option)) {
    if (Number.isInteger(value) && value >= min && value <= max) continue;
    throw invalid(`${name} must be a whole number from ${min} to ${max}`);
  }
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', `createBullmqEngine: ${problem}`);
}
