import { randomUUID } from 'node:crypto';
import { modelName, openAgent } from '../agent/open-agent.js';
import { callIn, NO_MODEL } from '../agent/scripted-model.js';
import { showTurn } from '../agent/show-turn.js';
import { usageError } from '../cli-error.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { counted, safeLine } from '../output.js';

/** Runs one turn of the agent, and shows it as it happens. */
export async function run({ context, args, options }: CommandInput): Promise<number> {
  const { io, out } = context;
  const [given = ''] = args;
  const prompt = given === '-' ? await io.readInput() : given;
  if (prompt.trim() === '') throw usageError('the prompt is empty; write what the agent is to do');
  const { loop, runtime } = await openAgent(context, options);
  // A script would otherwise go on as if the agent had done its work.
  if (
    modelName(context, options) === undefined &&
    callIn(prompt, await runtime.definitions()) === undefined
  ) {
    throw usageError(NO_MODEL);
  }
  const sessionId = textOption(options, 'session') ?? `cli-${randomUUID()}`;
  if ((await loop.state(sessionId)) !== 'idle') {
    throw usageError(
      `the last turn of the session ${safeLine(sessionId)} is not finished; "ethosagent sessions resume ${safeLine(sessionId)}" goes on with it, and "ethosagent sessions abandon ${safeLine(sessionId)}" ends it`,
    );
  }
  const abort = io.signal === undefined ? {} : { abortSignal: io.signal };
  const done = await showTurn(loop.run({ sessionId, prompt, ...abort }), context);
  if (done?.end === 'paused') {
    out.note(
      `${counted(done.approvals.length, ['call waits', 'calls wait'])} for approval; decide at a terminal with "ethosagent chat --session ${safeLine(sessionId)}"`,
    );
  }
  return done?.end === 'answered' ? EXIT.ok : EXIT.found;
}
