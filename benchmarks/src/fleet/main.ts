import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFleet } from '@ethosagent/agent-loop';
import { createBullmqEngine } from '@ethosagent/engine-bullmq';
import { createPostgresStores, createPostgresTurns } from '@ethosagent/storage-postgres';
import { createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import { startPostgres, startRedis } from '@ethosagent/test-support';
import type { SessionStore, TurnStore } from '@ethosagent/types';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { median, quantile } from './figures.js';
import { measureGrowth } from './growth.js';
import { startWorker, type WorkerProcess } from './processes.js';
import { createScriptedAgent } from './scripted-agent.js';

const TURNS = 200;
const LEASE_MS = 3_000;
/** Sessions of 100 turns. */
const SIZES = [100, 200, 400];

/** Workers on PostgreSQL and Redis. The PostgreSQL syncs its log to the disk at each commit. */
export async function run(): Promise<void> {
  const postgres = await startPostgres(['fsync=on', 'shared_buffers=128MB']);
  const redis = await startRedis();
  const turns = await createPostgresTurns(postgres.url).open();
  const engine = createBullmqEngine({ connection: redis.path });
  const fleet = createFleet({ engine, turns: turns.store });
  const start = () => startWorker({ postgres: postgres.url, redis: redis.path, leaseMs: LEASE_MS });
  let count = 0;
  const enqueue = () => {
    const session = `bench-${++count}`;
    return fleet.enqueue({ sessionId: session, prompt: session });
  };
  try {
    await measureSteps(postgres.url);
    await measureJobs(redis.path);
    console.log(`\nA fleet: ${TURNS} turns of 5 steps, 8 at once in each worker`);
    for (const size of [1, 2, 4]) {
      const workers = await Promise.all(Array.from({ length: size }, start));
      const before = (await turns.store.counts()).done;
      const startedAt = performance.now();
      await Promise.all(Array.from({ length: TURNS }, enqueue));
      await isDone(turns.store, before + TURNS);
      const seconds = (performance.now() - startedAt) / 1_000;
      const steps = (await Promise.all(workers.map((worker) => worker.stop()))).flat();
      console.log(
        `  ${size} workers: ${(TURNS / seconds).toFixed(1)} turns a second; a step ${median(steps).toFixed(0)} ms, 95th percentile ${quantile(steps, 0.95).toFixed(0)} ms`,
      );
    }
    await measureTakes(turns.store);
    await measureTakeover(turns.store, start, enqueue);
    await measureGrowth(postgres.url, SIZES);
  } finally {
    await fleet.close();
    await turns.close();
    await redis.stop();
    await postgres.stop();
  }
}

async function isDone(turns: TurnStore, done: number): Promise<void> {
  while ((await turns.counts()).done < done) await sleep(50);
}

/** What a step takes, one turn after the other, where the model takes no time. */
async function measureSteps(url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
  const sqlite = createSqliteSessionStore({ path: join(folder, 'sessions.db') });
  const postgres = await createPostgresStores(url).sessions.open();
  console.log('\nA step with a call, one turn after the other: median, 95th percentile');
  const agents = [sqlite, postgres.store].map((store: SessionStore) => createScriptedAgent(store));
  for (let n = 0; n < 20; n++) {
    for (const { loop } of agents) await loop.ask({ sessionId: `alone-${n}`, prompt: `${n}` });
  }
  for (const [at, name] of ['SQLite', 'PostgreSQL'].entries()) {
    const steps = agents[at]?.steps ?? [];
    console.log(
      `  ${name}: ${median(steps).toFixed(1)} ms, ${quantile(steps, 0.95).toFixed(1)} ms`,
    );
  }
  sqlite.close();
  await postgres.close();
  rmSync(folder, { recursive: true });
}

/** What BullMQ itself takes for a job that does nothing. */
async function measureJobs(path: string): Promise<void> {
  const connection = new Redis(path, { maxRetriesPerRequest: null });
  const own = new Redis(path, { maxRetriesPerRequest: null });
  const queue = new Queue('bare', { connection });
  const worker = new Worker('bare', async () => {}, { connection: own, concurrency: 1 });
  const ms: number[] = [];
  for (let n = 0; n < 100; n++) {
    const startedAt = performance.now();
    const over = new Promise<void>((resolve) => worker.once('completed', () => resolve()));
    await queue.add('job', {});
    await over;
    ms.push(performance.now() - startedAt);
  }
  console.log(
    `\nA bare job of BullMQ, one after the other: ${median(ms).toFixed(1)} ms, 95th percentile ${quantile(ms, 0.95).toFixed(1)} ms`,
  );
  await worker.close();
  await queue.close();
  connection.disconnect();
  own.disconnect();
}

/** How many turns can be taken in a second, by eight who ask at once: takes are one at a time. */
async function measureTakes(turns: TurnStore): Promise<void> {
  const taken = 800;
  const ids = Array.from({ length: taken }, (_, n) => ({ id: `take-${n}`, tenant: `t${n % 10}` }));
  for (let at = 0; at < taken; at += 20) {
    await Promise.all(
      ids.slice(at, at + 20).map((turn) => turns.put({ ...turn, sessionId: turn.id, prompt: '' })),
    );
  }
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let turn = await turns.take({ leaseMs: 60_000 }); turn !== null; ) {
        await turns.settle(turn, { state: 'done' });
        turn = await turns.take({ leaseMs: 60_000 });
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `\nTakes and settles of ${taken} turns of 10 tenants: ${(taken / seconds).toFixed(0)} a second`,
  );
}

/** From `kill -9` to the moment at which another worker has the turn that ran. */
async function measureTakeover(
  turns: TurnStore,
  start: () => Promise<WorkerProcess>,
  enqueue: () => Promise<string>,
): Promise<void> {
  const ms: number[] = [];
  for (let n = 0; n < 3; n++) {
    const first = await start();
    const next = await start();
    const ids = await Promise.all(Array.from({ length: 60 }, enqueue));
    const of = () => Promise.all(ids.map((id) => turns.get(id)));
    while (!(await of()).some((turn) => turn?.state === 'running')) await sleep(5);
    const killedAt = performance.now();
    await first.kill();
    for (;;) {
      const all = await of();
      if (all.some((turn) => (turn?.losses ?? 0) > 0)) {
        ms.push(performance.now() - killedAt);
        break;
      }
      // It held none when it was killed.
      if (all.every((turn) => turn?.state === 'done')) break;
      await sleep(20);
    }
    for (const id of ids) while ((await turns.get(id))?.state !== 'done') await sleep(50);
    await next.stop();
  }
  console.log(
    `\nTakeover after kill -9, leases of ${LEASE_MS} ms, ${ms.length} times: median ${median(ms).toFixed(0)} ms, longest ${Math.max(...ms).toFixed(0)} ms`,
  );
}
