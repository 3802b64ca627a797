import type { CallDecision } from '@ethosagent/core';
import type { GrantScope } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import type { AskedCall } from './call-preview.js';
import type { CommandContext } from './command-context.js';
import { grantLines } from './grant-lines.js';
import { grantScopes } from './grant-scopes.js';
import { safeText } from './output.js';

/** The answers with which a person approves for longer than one call, by scope. */
const ALWAYS: Readonly<Record<GrantScope, readonly [key: string, word: string, says: string]>> = {
  session: ['a', 'always', '[a]lways in this session'],
  arguments: ['w', 'with', 'always [w]ith these arguments'],
  tool: ['t', 'tool', 'always this [t]ool'],
};

/**
 * Asks the person at the terminal about each call that needs an approval.
 *
 * @param runtime gives the runtime of the calls, once there is one
 */
export function askAtTerminal(context: CommandContext, runtime: () => ToolRuntime | undefined) {
  const { io, out } = context;
  let turn: Promise<unknown> = Promise.resolve();
  const ask = async (request: AskedCall): Promise<CallDecision> => {
    const by = 'terminal';
    await showRequest(request, context, runtime());
    const scopes = await scopesOf(request, runtime());
    const question = [
      '[y]es',
      '[n]o',
      '[e]dit the arguments',
      ...scopes.map((scope) => ALWAYS[scope][2]),
    ].join(', ');
    for (;;) {
      const answer = (await io.ask?.(`Run it? ${question}: `))?.trim().toLowerCase();
      if (answer === 'y' || answer === 'yes') return { approved: true, by };
      if (answer === undefined || answer === 'n' || answer === 'no') return { approved: false, by };
      const always = scopes.find((scope) => ALWAYS[scope].slice(0, 2).includes(answer));
      if (always !== undefined) return { approved: true, by, always };
      if (answer !== 'e' && answer !== 'edit') continue;
      const text = await io.ask?.('The arguments as JSON: ');
      if (text === undefined) return { approved: false, by };
      try {
        return { approved: true, args: JSON.parse(text), by };
      } catch {
        out.note('That is not JSON.');
      }
    }
  };
  // One question at a time.
  return (request: AskedCall): Promise<CallDecision> => {
    const asked = turn.then(() => ask(request));
    turn = asked.catch(() => {});
    return asked;
  };
}

/**
 * Shows a call before it is decided: the tool, the reason, its arguments, what it may touch, and
 * what it would change.
 */
export async function showRequest(
  request: AskedCall,
  { out, previews }: Pick<CommandContext, 'out' | 'previews'>,
  runtime: ToolRuntime | undefined,
): Promise<void> {
  const { toolName, args, reason, capabilities, problem } = request;
  if (problem !== undefined) out.note(out.color.red(safeText(`Nothing has run: ${problem}`)));
  out.note(`${out.color.yellow('?')} ${out.color.bold(safeText(toolName))}: ${safeText(reason)}`);
  out.note(safeText(JSON.stringify(args, null, 2) ?? ''));
  for (const [what, which] of grantLines(capabilities)) {
    out.note(`  ${out.color.cyan(what)}  ${safeText(which)}`);
  }
  const preview = runtime && (await previews.of(request, runtime));
  if (preview === undefined) return;
  for (const line of preview.trimEnd().split('\n')) out.note(out.diffLine(line));
}

async function scopesOf(
  { personalityId }: AskedCall,
  runtime: ToolRuntime | undefined,
): Promise<GrantScope[]> {
  if (runtime === undefined) return [];
  return grantScopes(runtime, personalityId ?? runtime.personalityId);
}
