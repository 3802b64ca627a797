// biome-ignore lint/style/noRestrictedImports: a thread is no way outside, and the only way to end the reading of a hostile file, and to hold its memory
import { Worker } from 'node:worker_threads';
import { Turns } from '@ethosagent/policy';
import { z } from 'zod';
import { IdleThreads } from './idle-threads.js';

/** A job that could take too much time or memory for the main thread. */
export interface ThreadJob {
  /** The source of the program, as CommonJS. It posts `{ value, isLast }`, once or more often. */
  program: string;
  /** The `workerData` of the thread. It gets a copy. */
  data: Record<string, unknown>;
  /**
   * The first message to the thread, which gets a copy. A job with a message has a program that
   * waits for messages. After its last answer, the thread is kept for the next job of the same
   * program and data.
   */
  message?: unknown;
  heapMb: number;
  timeoutMs: number;
}

/** The outcome of a job. */
export interface ThreadOutcome {
  /** The value of the last message of the thread; `undefined` when it sent none. */
  value: unknown;
  /** Why the job ended: `done` with its last message, or another reason before that. */
  end: 'done' | 'time' | 'memory' | 'failure';
}

const message = z.object({ value: z.unknown(), isLast: z.boolean() });

// The memory limits of all threads add up, so only a few run at a time.
const threads = new Turns(4);
const idle = new IdleThreads();

/**
 * Runs a job in a thread of its own. The thread has ended when this returns, except when it
 * finished the job and waits for messages: then it may be kept for the next job. In the whole
 * process, four jobs run at a time. The time of a job begins when it runs.
 *
 * @throws the reason of `signal` when it fires before the job has ended
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
