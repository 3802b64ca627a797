// biome-ignore lint/style/noRestrictedImports: a thread is no way outside, and the only way to end the reading of a hostile file, and to hold its memory
import { Worker } from 'node:worker_threads';
import { Turns } from '@ethosagent/policy';
import { z } from 'zod';
import { IdleThreads } from './idle-threads.js';

/** A reading that could take too long, or too much memory, for the thread of the process. */
export interface ThreadJob {
  /** CommonJS as text. It posts `{ value, isLast }`, once or more often. */
  program: string;
  /** Copied for the thread, as its `workerData`. */
  data: Record<string, unknown>;
  /**
   * Copied for the thread, as a message. With one, the thread waits for messages, and is kept for
   * the next job of the same program and data once it has said its last word.
   */
  message?: unknown;
  heapMb: number;
  timeoutMs: number;
}

/** The result of a thread. */
export interface ThreadOutcome {
  /** The value of the last message; `undefined` without one. */
  value: unknown;
  /** Why it ended: with its last message, or before it. */
  end: 'done' | 'time' | 'memory' | 'failure';
}

const message = z.object({ value: z.unknown(), isLast: z.boolean() });

// The memory limits of all threads add up, so only a few run at a time.
const threads = new Turns(4);
const idle = new IdleThreads();

/**
 * Runs a job in a thread that does nothing else meanwhile. It is gone when this returns, unless it
 * came to its end by itself and waits for messages: then it may be kept for the next. Four run at a time, in all of
 * the process; the time of one begins when it runs.
 *
 * @throws the reason of `signal` when it fires before that
 */
export function runThread(job: ThreadJob, signal: AbortSignal): Promise<ThreadOutcome> {
  return threads.run('', () => runNow(job, signal), signal);
}

async function runNow(job: ThreadJob, signal: AbortSignal): Promise<ThreadOutcome> {
  signal.throwIfAborted();
  const key = JSON.stringify([job.program, job.heapMb, job.message === undefined ? '' : job.data]);
  const kept = job.message === undefined ? undefined : idle.take(key);
  const worker = kept?.worker ?? startThread(job);
  let isKept = false;
  try {
    const running = outcomeOf(worker, job.timeoutMs, signal);
    if (job.message !== undefined) worker.postMessage(job.message);
    const outcome = await running;
    isKept =
      job.message !== undefined &&
      outcome.end === 'done' &&
      idle.give(key, worker, (kept?.jobs ?? 0) + 1);
    return outcome;
  } finally {
    if (!isKept) await worker.terminate();
  }
}

function startThread({ program, data, heapMb }: ThreadJob): Worker {
  const worker = new Worker(program, {
    eval: true,
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  // Without a listener, an error between two jobs would end the process.
  worker.on('error', () => {});
  return worker;
}

function outcomeOf(worker: Worker, timeoutMs: number, signal: AbortSignal): Promise<ThreadOutcome> {
  return new Promise((resolve, reject) => {
    let value: unknown;
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      end();
    };
    const onEnd = (end: ThreadOutcome['end']) => settle(() => resolve({ value, end }));
    const onAbort = () => settle(() => reject(signal.reason));
    const timer = setTimeout(() => onEnd('time'), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    const onMessage = (said: unknown) => {
      const { data } = message.safeParse(said);
      value = data?.value ?? value;
      if (data?.isLast !== false) onEnd(data === undefined ? 'failure' : 'done');
    };
    const onError = (error: unknown) => {
      const isMemory =
        error instanceof Error && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY';
      onEnd(isMemory ? 'memory' : 'failure');
    };
    const onExit = () => onEnd('failure');
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
