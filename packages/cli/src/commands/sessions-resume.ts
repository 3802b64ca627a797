import { openAgent } from '../agent/open-agent.js';
import { showTurn } from '../agent/show-turn.js';
import { usageError } from '../cli-error.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { openForApprovals } from '../named-call.js';
import { safeText } from '../output.js';
import { tellResult } from '../tell-result.js';
import { unfinishedText } from '../unfinished-text.js';
import { findWaitingCalls, hasBegun } from '../waiting-calls.js';

/**
 * Resumes a session: runs the calls that were approved, and reports those that were refused. An
 * unfinished turn of the agent continues with its model.
 */
export async function run(input: CommandInput): Promise<number> {
  const {
    context,
    args: [id = ''],
    options,
  } = input;
  const { io, out } = context;
  const runtime = await openForApprovals(context);
  const { calls } = await findWaitingCalls(runtime);
  const own = calls.filter(({ sessionId }) => sessionId === id);
  const unfinished = own.filter(hasBegun);
  for (const call of unfinished) out.note(unfinishedText(call));
  const waiting = own.filter((call) => !hasBegun(call));
  const decided = waiting.find(
    ({ approval, session }) => session !== undefined && approval.decision,
  );
  const abort = io.signal === undefined ? {} : { abortSignal: io.signal };
  if (decided?.session !== undefined) {
    const results = await decided.session.resume({
      ...abort,
      onProgress: ({ message }) => {
        if (!out.isJson && message !== undefined) out.note(safeText(message));
      },
    });
    await decided.session.end();
    if (out.isJson) out.json(results);
    else for (const result of results) tellResult(result, { session: id, out });
    const isFine = results.every(({ result }) => result.ok) && unfinished.length === 0;
    return isFine ? EXIT.ok : EXIT.found;
  }
  const [first] = waiting;
  if (first?.from === 'session') {
    throw usageError(
      `${first.approval.toolCallId} waits; decide with "ethosagent approvals approve ${first.approval.toolCallId}"`,
    );
  }
  const info = await runtime.sessions.get(id);
  if (info === null && unfinished.length > 0) return EXIT.found;
  if (info === null) {
    throw usageError(`nothing of the session ${id} waits, and there is no turn to go on with`);
  }
  const { loop } = await openAgent(context, options, info);
  const done = await showTurn(loop.resume({ sessionId: id, ...abort }), context);
  return done?.end === 'answered' ? EXIT.ok : EXIT.found;
}
