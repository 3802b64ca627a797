import type { ApprovalRequest, CallDecision } from '@ethosagent/core';
import type { CliIo } from './cli-io.js';
import { grantLines } from './grant-lines.js';
import { type Output, safeText } from './output.js';

/** What is known of a call that is asked about, whether it waits or is stored. */
type Asked = Pick<ApprovalRequest, 'toolName' | 'args' | 'reason' | 'capabilities'>;

/** Asks whoever sits at the terminal about each call that needs an approval. */
export function askAtTerminal({ io, out }: { io: CliIo; out: Output }) {
  let turn: Promise<unknown> = Promise.resolve();
  const ask = async (request: Asked): Promise<CallDecision> => {
    showRequest(request, out);
    for (;;) {
      const answer = (
        await io.ask?.('Run it? [y]es, [n]o, [a]lways in this session, [e]dit the arguments: ')
      )
        ?.trim()
        .toLowerCase();
      if (answer === 'y' || answer === 'yes') return { approved: true, by: 'terminal' };
      if (answer === 'a' || answer === 'always') {
        return { approved: true, by: 'terminal', always: 'session' };
      }
      if (answer === undefined || answer === 'n' || answer === 'no') {
        return { approved: false, by: 'terminal' };
      }
      if (answer !== 'e' && answer !== 'edit') continue;
      const text = await io.ask?.('The arguments as JSON: ');
      if (text === undefined) return { approved: false, by: 'terminal' };
      try {
        return { approved: true, args: JSON.parse(text), by: 'terminal' };
      } catch {
        out.note('That is not JSON.');
      }
    }
  };
  // One question at a time.
  return (request: Asked): Promise<CallDecision> => {
    const asked = turn.then(() => ask(request));
    turn = asked.catch(() => {});
    return asked;
  };
}

/** What is asked: the tool, why, its arguments and what the call may touch. */
export function showRequest({ toolName, args, reason, capabilities }: Asked, out: Output): void {
  out.note(`${out.color.yellow('?')} ${out.color.bold(safeText(toolName))}: ${safeText(reason)}`);
  out.note(safeText(JSON.stringify(args, null, 2) ?? ''));
  for (const [what, which] of grantLines(capabilities)) {
    out.note(`  ${out.color.cyan(what)}  ${safeText(which)}`);
  }
}
