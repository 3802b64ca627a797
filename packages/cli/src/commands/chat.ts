import { randomUUID } from 'node:crypto';
import type { AgentEvent } from '@ethosagent/agent-loop';
import { modelName, openAgent } from '../agent/open-agent.js';
import { callIn, NO_MODEL } from '../agent/scripted-model.js';
import { showTurn } from '../agent/show-turn.js';
import { askAtTerminal } from '../ask-at-terminal.js';
import { usageError } from '../cli-error.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine } from '../output.js';

/** A conversation with the agent at the terminal, turn by turn. A stored session is continued. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { io, out } = context;
  if (io.ask === undefined) {
    throw usageError('chat needs a terminal; use "ethosagent run PROMPT" in scripts');
  }
  const { loop, runtime } = await openAgent(context, options);
  const hasModel = modelName(context, options) !== undefined;
  const sessionId = textOption(options, 'session') ?? `cli-${randomUUID()}`;
  out.note(
    `Session ${safeLine(sessionId)}. An empty line ends the chat; --session goes on with it.`,
  );
  const abort = io.signal === undefined ? {} : { abortSignal: io.signal };
  /** Whether the chat goes on. A turn that failed would fail again at once, and for ever. */
  const goesOn = async (events: AsyncIterable<AgentEvent>) => {
    const end = (await showTurn(events, context))?.end;
    return end !== undefined && end !== 'aborted' && end !== 'failed';
  };
  for (;;) {
    const state = await loop.state(sessionId);
    if (state === 'paused') {
      const decide = askAtTerminal(context, () => runtime);
      for (const approval of await loop.pending(sessionId)) {
        if (approval.decision !== undefined) continue;
        await loop.decide(sessionId, approval, await decide(approval));
      }
    }
    if (state !== 'idle') {
      if (!(await goesOn(loop.resume({ sessionId, ...abort })))) return EXIT.found;
      continue;
    }
    const prompt = await io.ask('You');
    if (prompt === undefined || prompt.trim() === '') return EXIT.ok;
    if (!hasModel && callIn(prompt, await runtime.definitions()) === undefined) {
      out.note(NO_MODEL);
      continue;
    }
    if (!(await goesOn(loop.run({ sessionId, prompt, ...abort })))) return EXIT.found;
  }
}
