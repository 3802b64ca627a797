import { randomUUID } from 'node:crypto';
import { openAgent } from '../agent/open-agent.js';
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
  const sessionId = textOption(options, 'session') ?? `cli-${randomUUID()}`;
  const abort = io.signal === undefined ? {} : { abortSignal: io.signal };
  out.note(
    `Session ${safeLine(sessionId)}. An empty line ends the chat; --session goes on with it.`,
  );
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
      const done = await showTurn(loop.resume({ sessionId, ...abort }), context);
      if (done === undefined || done.end === 'aborted') return EXIT.found;
      continue;
    }
    const prompt = await io.ask('You');
    if (prompt === undefined || prompt.trim() === '') return EXIT.ok;
    const done = await showTurn(loop.run({ sessionId, prompt, ...abort }), context);
    if (done === undefined || done.end === 'aborted') return EXIT.found;
  }
}
