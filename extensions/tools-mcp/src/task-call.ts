import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { withOwnSignal } from './request-signal.js';
import { pause } from './token-bucket.js';

const MIN_POLL_MS = 200;
const MAX_POLL_MS = 5_000;
const CANCEL_MS = 5_000;

const taskSchema = z.looseObject({
  taskId: z.string().min(1).max(256),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  pollInterval: z.number().optional(),
});
const createdSchema = z.looseObject({ task: taskSchema });

/** Whether a server runs calls of its tools as tasks. */
export function runsTasks(client: Client): boolean {
  return client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
}

/** Calls a tool as a task: starts it, polls its state, and gets its result. */
export async function callAsTask<T>(
  client: Client,
  call: { params: Record<string, unknown>; schema: z.ZodType<T>; ttlMs: number },
  options: RequestOptions & { signal: AbortSignal; timeout: number },
): Promise<T> {
  const { signal } = options;
  const { task } = await withOwnSignal(signal, (own) =>
    client.request(
      { method: 'tools/call', params: { ...call.params, task: { ttl: call.ttlMs } } },
      createdSchema,
      { ...options, signal: own },
    ),
  );
  const params = { taskId: task.taskId };
  const ask = <R>(method: string, schema: z.ZodType<R>): Promise<R> =>
    withOwnSignal(signal, (own) =>
      client.request({ method, params }, schema, { signal: own, timeout: options.timeout }),
    );
  const cancel = () => {
    client
      .request({ method: 'tasks/cancel', params }, z.looseObject({}), { timeout: CANCEL_MS })
      .catch(() => {});
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  try {
    let { status, pollInterval } = task;
    while (status === 'working') {
      // The interval of the server is bounded: 0 would poll without a pause, and a year would never poll.
      const waitMs = Math.min(Math.max(pollInterval ?? 0, MIN_POLL_MS), MAX_POLL_MS);
      await pause(waitMs, signal);
      signal.throwIfAborted();
      ({ status, pollInterval } = await ask('tasks/get', taskSchema));
    }
    if (status === 'cancelled') {
      throw new McpError(ErrorCode.InternalError, 'the server cancelled the task');
    }
    // The request for the result waits while the task asks the user. It gives the error of a failed task.
    return await ask('tasks/result', call.schema);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
