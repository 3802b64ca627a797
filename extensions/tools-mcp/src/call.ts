import { err, failureOf } from '@ethosagent/plugin-sdk';
import { cleanText, MAX_TIMER_MS } from '@ethosagent/policy';
import {
  errorCodeOf,
  type ServiceDenial,
  type ToolContext,
  type ToolResult,
  withErrorBehind,
} from '@ethosagent/types';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { Connection } from './connection.js';
import { brief, messageOf } from './connection-failure.js';
import { BROKEN_OFF } from './redacted-transport.js';
import { refusedOnTheWay } from './sandbox-refusals.js';
import type { ServerSession } from './server-session.js';
import { callAsTask } from './task-call.js';
import { inTime } from './with-deadline.js';

/** A request of a tool to a server. */
export interface ServerCall<T> {
  connection: Connection;
  /** The name of the tool in the registry. */
  toolName: string;
  method: string;
  params: Record<string, unknown>;
  schema: z.ZodType<T>;
  timeoutMs: number;
  /** Whether the call is run as an MCP task. */
  asTask?: boolean;
  /** Asked when the server is connected. Returns why the call must not be made, if so. */
  refuse?: () => string | undefined;
}

/** A call that got no answer. */
interface FailedCall {
  ok: false;
  result: ToolResult;
  /** Whether the server does not know the method. */
  isUnknown?: boolean;
}

const PROGRESS_MS = 200;

/**
 * Sends a request once, and waits for its answer.
 *
 * @returns the answer, or the result of a call that got none
 */
export async function callServer<T>(
  call: ServerCall<T>,
  ctx: ToolContext,
): Promise<{ ok: true; answer: T; denied: (result: ToolResult) => ToolResult } | FailedCall> {
  const { connection, timeoutMs } = call;
  const name = connection.server.name;
  const { session: current } = connection;
  const opened =
    current === undefined
      ? await inTime(connection.openForCall(), ctx.abortSignal, timeoutMs)
      : { ok: true as const, session: current };
  if (opened === 'aborted')
    return failed(err(`${name}: the call was cancelled before it was sent`));
  if (opened === 'late') {
    const why = connection.reason === '' ? 'it is still starting' : brief(connection.reason);
    const text = `The MCP server ${name} was not there within ${timeoutMs / 1_000} s (${why}), and the call was not sent`;
    return failed(err(text, 'not_available', 'TOOL_UNAVAILABLE'));
  }
  if (!opened.ok) {
    const { reason, error } = opened;
    const result = err(
      `The MCP server ${name} is not available: ${brief(reason)}`,
      'not_available',
      errorCodeOf(error) ?? 'TOOL_UNAVAILABLE',
    );
    return failed(error === undefined ? result : withErrorBehind(result, error));
  }
  const refusal = call.refuse?.();
  if (refusal !== undefined) return failed(err(refusal, 'not_available', 'TOOL_UNAVAILABLE'));
  const { session } = opened;
  const refusedBefore = new Set(session.scope.denials?.());
  const stop = new AbortController();
  let stopped: 'time' | 'abort' | undefined;
  const end = (why: 'time' | 'abort') => {
    stopped ??= why;
    stop.abort(why === 'time' ? 'the call took too long' : 'the call was cancelled');
  };
  const onAbort = () => end('abort');
  const timer = setTimeout(() => end('time'), timeoutMs);
  ctx.abortSignal.addEventListener('abort', onAbort, { once: true });
  try {
    if (ctx.abortSignal.aborted)
      return failed(err(`${name}: the call was cancelled before it was sent`));
    const answer = await connection.use(session, () =>
      send(session, call, {
        signal: stop.signal,
        // The time limit above applies, not that of the SDK.
        timeout: MAX_TIMER_MS,
        onprogress: progressTo(call, ctx),
      }),
    );
    return {
      ok: true,
      answer,
      denied: (result) => withDenials(result, session, refusedBefore),
    };
  } catch (error) {
    if (stopped === 'abort') {
      return failed(
        err(
          `${name} was told to cancel the call, which may have run all the same; check before you call it again`,
        ),
      );
    }
    if (stopped === 'time') {
      return failed(
        err(
          `${name} gave no answer within ${timeoutMs / 1_000} s and was told to cancel; the call may have run. Do not repeat it before you know that it has not.`,
          'execution_failed',
          'CALL_TIMED_OUT',
        ),
      );
    }
    const result = withDenials(resultOf(error, connection, session), session, refusedBefore);
    return { ...failed(result), isUnknown: isUnknown(error) };
  } finally {
    clearTimeout(timer);
    ctx.abortSignal.removeEventListener('abort', onAbort);
  }
}

function send<T>(
  { client }: ServerSession,
  { method, params, schema, asTask, timeoutMs }: ServerCall<T>,
  options: RequestOptions & { signal: AbortSignal; timeout: number },
): Promise<T> {
  if (asTask !== true) return client.request({ method, params }, schema, options);
  return callAsTask(client, { params, schema, ttlMs: timeoutMs }, options);
}

/** Adds to a failed result the hosts that the sandbox of the server refused during the call. */
function withDenials(
  result: ToolResult,
  { scope }: ServerSession,
  before: ReadonlySet<ServiceDenial>,
): ToolResult {
  const hosts = refusedOnTheWay(scope, before);
  if (result.ok || hosts.length === 0) return result;
  const said = `(Meanwhile ${hosts.join(', ')} was refused to the server: the operator has not allowed it.)`;
  return { ...result, error: `${result.error}\n${said}` };
}

const failed = (result: ToolResult): FailedCall => ({ ok: false, result });

/** Whether a server answered that it does not know a method. */
function isUnknown(error: unknown): boolean {
  return error instanceof McpError && error.code === ErrorCode.MethodNotFound;
}

/** Returns the result of a call that got an error instead of an answer. */
function resultOf(error: unknown, connection: Connection, session: ServerSession): ToolResult {
  const { name } = connection.server;
  const mayHaveRun = `the call may have run, and is not sent again. Do not repeat it before you know that it has not.`;
  if (!connection.isCurrent(session)) {
    const why = connection.reason === '' ? 'it ended' : brief(connection.reason);
    const text = `The MCP server ${name} ended during the call (${why}): ${mayHaveRun}`;
    return withErrorBehind(err(text, 'execution_failed', 'TOOL_UNAVAILABLE'), error);
  }
  if (error instanceof McpError) {
    if (error.data === BROKEN_OFF) {
      const text = `The answer of ${name} broke off: ${mayHaveRun}`;
      return withErrorBehind(err(text, 'execution_failed', 'NETWORK_FAILED'), error);
    }
    const said = cleanText(session.redact(error.message), 2_000);
    switch (error.code) {
      case ErrorCode.InvalidParams:
        return err(`${name} refuses the arguments: ${said}`, 'input_invalid');
      case ErrorCode.MethodNotFound:
        return err(
          `the MCP server ${name} does not support this request, so go on without it: ${said}`,
          'not_available',
          'TOOL_UNAVAILABLE',
        );
      default:
        return err(`${name} answered with an error: ${said}`);
    }
  }
  if (error instanceof UnauthorizedError) {
    connection.unauthorized(session);
    return err(
      `${name} did not run the call: the user has to authorize it first`,
      'not_available',
      'TOOL_UNAVAILABLE',
    );
  }
  if (error instanceof StreamableHTTPError) {
    if (error.code === 404 && session.hasSession()) {
      connection.lost(session, 'it has forgotten the session');
      return err(
        `${name} has forgotten the session and did not run the call; call it again`,
        'not_available',
        'TOOL_UNAVAILABLE',
      );
    }
    const status = error.code ?? 0;
    // The SDK uses -1 for an answer that it can not read.
    const what = status > 0 ? `HTTP ${status}` : 'what it may not';
    const said = `${name} answered with ${what}: ${messageOf(error, session.redact)}`;
    const unsure = status <= 0 || status === 404 || status >= 500;
    return err(unsure ? `${said} – ${mayHaveRun}` : said);
  }
  const denied = failureOf(error, {
    HOST_NOT_ALLOWED: 'Go on without it: the operator has not allowed this.',
    SECRET_NOT_BOUND: 'Tell the user that the server is set up wrong.',
  });
  if (denied !== undefined && !denied.ok) {
    return withErrorBehind({ ...denied, error: session.redact(denied.error) }, error);
  }
  const code = errorCodeOf(error);
  if (code === undefined)
    return withErrorBehind(
      err(`${name} gave an answer that the protocol does not know; ${mayHaveRun}`),
      error,
    );
  const why = messageOf(error, session.redact);
  connection.lost(session, why);
  const text = `The connection to ${name} failed (${why}): ${mayHaveRun}`;
  return withErrorBehind(err(text, 'execution_failed', code), error);
}

/** Reports the progress of a server in its own words, but not too often. */
function progressTo({ toolName }: ServerCall<unknown>, ctx: ToolContext) {
  let last = Number.NEGATIVE_INFINITY;
  return (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => {
    const now = performance.now();
    const { progress: done, total, message } = progress;
    if (now - last < PROGRESS_MS && done !== total) return;
    last = now;
    const share = total !== undefined && total > 0 ? (done / total) * 100 : undefined;
    const counted = total === undefined ? `${done}` : `${done} of ${total}`;
    ctx.emit({
      type: 'progress',
      toolName,
      message: cleanText(message ?? '', 200) || counted,
      audience: 'user',
      ...(share === undefined ? {} : { percent: Math.min(100, Math.max(0, share)) }),
    });
  };
}
