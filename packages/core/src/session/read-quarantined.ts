import { causeOfThrown, compileClosedSchema } from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import { askQuarantined, NO_ANSWER, quarantineFailure } from './quarantine.js';
import { failureOf } from './session-answers.js';
import type { QuarantineAnswer, QuarantineRequest, SessionResult } from './session-api.js';

/** How the calls of a reader are run. */
export interface QuarantinedRun {
  signal: AbortSignal;
  /**
   * Runs the calls for the reader alone. Fills `marked` with the places of results that hold
   * untrusted text.
   */
  run: (calls: QuarantineRequest['calls'], marked: Set<number>) => Promise<SessionResult[]>;
}

/**
 * Lets a reader without tools answer a question about the results of calls. The session itself does
 * not read those results. Never rejects.
 */
export async function readQuarantined(
  request: QuarantineRequest,
  { signal, run }: QuarantinedRun,
): Promise<QuarantineAnswer> {
  const { calls, question, schema, read }: QuarantineRequest = Object(request);
  const closed = compileClosedSchema(schema);
  if (!closed.ok) return quarantineFailure(closed.problem, 'INPUT_INVALID', 'input_invalid');
  try {
    const marked = new Set<number>();
    const results = await run(calls, marked);
    const failed = failureOf(results, marked);
    if (failed !== undefined) return failed;
    const answer = await askQuarantined(results, {
      schema: structuredClone(schema),
      compiled: closed.schema,
      question: String(question),
      read,
      signal,
    });
    return answer === undefined ? NO_ANSWER : { ok: true, ...answer };
  } catch (error) {
    if (signal.aborted)
      return quarantineFailure('the turn was aborted before the content was read', 'CALL_ABORTED');
    const cause = errorCodeOf(error) ?? causeOfThrown(error) ?? 'CONFIG_INVALID';
    return quarantineFailure('the content could not be read', cause);
  }
}
