import { parentPort } from 'node:worker_threads';
import { type ScaleJob, scaleNow } from './scale-now.js';

// The thread of `createImageScaler`: it does one job.
parentPort?.once('message', (job: ScaleJob) => {
  const bytes = scaleNow(job);
  // A copy: a part of the memory of WebAssembly can not be handed over.
  parentPort?.postMessage(bytes && new Uint8Array(bytes));
});
