// biome-ignore lint/style/noRestrictedImports: a thread is no way outside, and the only way to end the reading of a hostile file, and to hold its memory
import { Worker } from 'node:worker_threads';
import { Turns } from '@ethosagent/policy';
import { z } from 'zod';

/** A reading that could take too long, or too much memory, for the thread of the process. */
export interface ThreadJob {
  /** CommonJS as text. It posts `{ value, isLast }`, once or more often. */
  program: string;
  /** Copied for the thread, as its `workerData`. */
  data: Record<string, unknown>;
  heapMb: number;
  timeoutMs: number;
}

/** What a thread came to. */
export interface ThreadOutcome {
  /** Of the last message; `undefined` for none. */
  value: unknown;
  /** Why it ended: with its last message, or before it. */
  end: 'done' | 'time' | 'memory' | 'failure';
}

const message = z.object({ value: z.unknown(), isLast: z.boolean() });

// What each may take of the memory adds up.
const threads = new Turns(4);

/**
 * Runs a job in a thread of its own, which is gone when this returns. Four run at a time, in all of
 * the process; the time of one begins when it runs.
 *
 * @throws the reason of `signal` when it fires before that
 */
export function runThread(job: ThreadJob, signal: AbortSignal): Promise<ThreadOutcome> {
  return threads.run('', () => runNow(job, signal), signal);
}

async function runNow(
  { program, data, heapMb, timeoutMs }: ThreadJob,
  signal: AbortSignal,
): Promise<ThreadOutcome> {
  signal.throwIfAborted();
  const worker = new Worker(program, {
    eval: true,
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  try {
    return await outcomeOf(worker, timeoutMs, signal);
  } finally {
    await worker.terminate();
  }
}

function outcomeOf(worker: Worker, timeoutMs: number, signal: AbortSignal): Promise<ThreadOutcome> {
  return new Promise((resolve, reject) => {
    let value: unknown;
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const onEnd = (end: ThreadOutcome['end']) => settle(() => resolve({ value, end }));
    const onAbort = () => settle(() => reject(signal.reason));
    const timer = setTimeout(() => onEnd('time'), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.on('message', (said: unknown) => {
      const { data } = message.safeParse(said);
      value = data?.value ?? value;
      if (data?.isLast !== false) onEnd(data === undefined ? 'failure' : 'done');
    });
    worker.once('error', (error) => {
      const isMemory = Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY';
      onEnd(isMemory ? 'memory' : 'failure');
    });
    worker.once('exit', () => onEnd('failure'));
  });
}
