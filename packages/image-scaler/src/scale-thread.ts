import { parentPort } from 'node:worker_threads';
import { type ScaleJob, scaleNow } from './scale-now.js';

// The thread of `createImageScaler`. It does one job.
parentPort?.once('message', (job: ScaleJob) => {
  const bytes = scaleNow(job);
  // A copy: the memory of WebAssembly can't be transferred in parts.
  parentPort?.postMessage(bytes && new Uint8Array(bytes));
});
