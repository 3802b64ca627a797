// biome-ignore lint/style/noRestrictedImports: it is run in a thread, and answers the one that began it
import { parentPort } from 'node:worker_threads';
import { reading, readNow } from './reading.js';

// The thread of `readHtml`. It does one job after the other.
parentPort?.on('message', async (job: unknown) => {
  const value = await readNow(reading.parse(job), (text) =>
    parentPort?.postMessage({ value: text, isLast: false }),
  );
  parentPort?.postMessage({ value, isLast: true });
});
