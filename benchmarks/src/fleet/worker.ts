// One worker, in a process of its own. Its argument is where it works, as JSON; it says `ready`, each
// turn that it went on with, and at SIGTERM how long its steps took.
import { createFleet } from '@ethosagent/agent-loop';
import { createBullmqEngine } from '@ethosagent/engine-bullmq';
import { createPostgresStores, createPostgresTurns } from '@ethosagent/storage-postgres';
import { createScriptedAgent } from './scripted-agent.js';

const { postgres, redis, leaseMs }: { postgres: string; redis: string; leaseMs: number } =
  JSON.parse(process.argv[2] ?? '{}');
const sessions = await createPostgresStores(postgres).sessions.open();
const turns = await createPostgresTurns(postgres).open();
const fleet = createFleet({
  engine: createBullmqEngine({ connection: redis }),
  turns: turns.store,
});
const agent = createScriptedAgent(sessions.store);
const worker = await fleet.startWorker({ agent, concurrency: 8, leaseMs, sweepMs: 1_000 });
process.stdout.write('"ready"\n');

process.once('SIGTERM', async () => {
  await worker.close();
  await fleet.close();
  await turns.close();
  await sessions.close();
  process.stdout.write(`${JSON.stringify(agent.steps)}\n`);
});
