import { cleanLine } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { z } from 'zod';
import type { Connection } from './connection.js';
import { withOwnSignal } from './request-signal.js';
import { inTime } from './with-deadline.js';

/** What to complete: an argument of a prompt, or a variable of a resource template. */
export interface McpCompletionRequest {
  of: { prompt: string } | { resourceTemplate: string };
  argument: { name: string; value: string };
  /** The values of the other arguments, by name. */
  known?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/**
 * The values that a server proposed within 10 seconds: at most 100, each of at most 500 characters.
 * They are untrusted text of the server.
 */
export interface McpCompletion {
  values: string[];
  /** Whether the server has more values. */
  hasMore: boolean;
}

/** How many milliseconds to wait for the connection, and then again for the answer. */
const TIMEOUT_MS = 10_000;
const NEVER = new AbortController().signal;
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 500;

const answerSchema = z.looseObject({
  completion: z.looseObject({ values: z.array(z.unknown()), hasMore: z.boolean().optional() }),
});

/**
 * Asks a server for completions.
 *
 * @throws `TOOL_UNAVAILABLE` when it is not connected or has no completion
 */
export async function complete(
  connection: Connection,
  { of, argument, known, signal }: McpCompletionRequest,
): Promise<McpCompletion> {
  const { name } = connection.server;
  const opened = await inTime(connection.openForCall(), signal ?? NEVER, TIMEOUT_MS);
  if (opened === 'aborted')
    throw unavailable(`the completion was cancelled before ${name} was asked`);
  if (opened === 'late')
    throw unavailable(`${name} did not start within ${TIMEOUT_MS / 1_000} s; try again`);
  if (!opened.ok) throw unavailable(`${name}: ${opened.reason}`);
  const { session } = opened;
  if (session.client.getServerCapabilities()?.completions === undefined) {
    throw unavailable(`${name} completes no arguments`);
  }
  const ref =
    'prompt' in of
      ? { type: 'ref/prompt', name: of.prompt }
      : { type: 'ref/resource', uri: of.resourceTemplate };
  const params = {
    ref,
    argument,
    ...(known !== undefined && { context: { arguments: { ...known } } }),
  };
  try {
    const { completion } = await connection.use(session, () =>
      withOwnSignal(signal ?? NEVER, (own) =>
        session.client.request({ method: 'completion/complete', params }, answerSchema, {
          timeout: TIMEOUT_MS,
          signal: own,
        }),
      ),
    );
    const texts = completion.values.filter((value) => typeof value === 'string');
    return {
      values: texts
        .slice(0, MAX_VALUES)
        .map((value) => cleanLine(session.redact(value), MAX_VALUE_CHARS)),
      hasMore: completion.hasMore === true || completion.values.length > MAX_VALUES,
    };
  } catch (cause) {
    throw new EthosError('TOOL_UNAVAILABLE', `${name} completes nothing`, { cause });
  }
}

function unavailable(why: string): EthosError {
  return new EthosError('TOOL_UNAVAILABLE', why);
}
