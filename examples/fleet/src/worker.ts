// One worker, in a process of its own. Its argument is where the story takes place, as JSON.
import { openFleet, type Place } from './agent.js';

const place: Place = JSON.parse(process.argv[2] ?? '{}');
const { agent, fleet, close } = await openFleet(place);
const worker = await fleet.startWorker({ agent, concurrency: 4, leaseMs: 3_000, sweepMs: 500 });
process.stdout.write('ready\n');

process.once('SIGTERM', async () => {
  await worker.close();
  await close();
});
