import type { CallDecision } from '@ethosagent/core';
import { showRequest } from './ask-at-terminal.js';
import { usageError } from './cli-error.js';
import type { CommandInput } from './command-spec.js';
import { EXIT } from './exit-codes.js';
import type { NamedCall } from './named-call.js';
import { safeLine } from './output.js';

type Said = Omit<CallDecision, 'by'>;

/**
 * Decides on a waiting call, and shows the decision.
 *
 * @throws `CONFIG_INVALID` if the call was named by a number and nobody can check which call has
 * that number now; as `ToolSession.decide`
 */
export async function decideCall(
  call: NamedCall,
  said: Said,
  { context }: CommandInput,
): Promise<number> {
  const { io, out } = context;
  const { sessionId, from, approval } = call;
  const { toolCallId, toolName } = approval;
  if (said.approved && call.isByNumber) await confirm(call, said, context);
  await call.decide({ ...said, by: `${io.user ?? 'somebody'} at the terminal` });
  if (out.isJson) out.json({ sessionId, from, toolCallId, toolName, ...said });
  else {
    out.line(
      `${said.approved ? 'approved' : 'refused'} ${safeLine(toolName)} ${safeLine(toolCallId)} of the session ${safeLine(sessionId)}`,
    );
    out.note(
      `The agent's own program goes on with it, or "ethosagent sessions resume ${safeLine(sessionId)}".`,
    );
  }
  return EXIT.ok;
}

/**
 * The list may have changed since the user looked at it, so the call is shown before it is
 * approved.
 */
async function confirm(
  { approval, runtime }: NamedCall,
  { args = approval.args }: Said,
  context: CommandInput['context'],
): Promise<void> {
  const { io } = context;
  if (io.ask === undefined) {
    throw usageError(
      `a number may stand for another call now; without a terminal, name the id: ${approval.toolCallId}`,
    );
  }
  await showRequest({ ...approval, args }, context, runtime);
  const answer = (await io.ask('Approve it? [y]es, [n]o: '))?.trim().toLowerCase();
  if (answer !== 'y' && answer !== 'yes') throw usageError('nothing was decided');
}
