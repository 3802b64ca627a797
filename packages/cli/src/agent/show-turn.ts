import type { AgentEvent } from '@ethosagent/agent-loop';
import { oneLine } from '@ethosagent/policy';
import type { CommandContext } from '../command-context.js';
import { safeLine, safeText } from '../output.js';

type Done = Extract<AgentEvent, { type: 'done' }>;

/**
 * Shows a turn as it happens: the model's text, and each tool as it runs.
 *
 * @returns how it ended; `undefined` if the loop was closed
 */
export async function showTurn(
  events: AsyncIterable<AgentEvent>,
  { out, io }: CommandContext,
): Promise<Done | undefined> {
  const { color } = out;
  let isInLine = false;
  let sessionId = '';
  const line = (text: string) => {
    if (isInLine) out.line();
    isInLine = false;
    out.line(text);
  };
  for await (const event of events) {
    if (out.isJson) {
      out.jsonLine(event);
      if (event.type === 'done') return event;
      continue;
    }
    switch (event.type) {
      case 'start':
        sessionId = event.sessionId;
        break;
      case 'text':
        io.out(safeText(event.text));
        isInLine = !event.text.endsWith('\n');
        break;
      case 'tool_start':
        line(
          `${color.cyan('→')} ${color.bold(safeLine(event.toolName))} ${color.dim(safeLine(JSON.stringify(event.args) ?? '', 160))}`,
        );
        break;
      case 'tool_progress':
        line(color.dim(`  ${safeLine(event.message)}`));
        break;
      case 'tool_end': {
        const { result, ms } = event;
        const mark = result.ok ? color.green('✓') : color.red('✗');
        const text = result.ok ? result.value : `${result.code}: ${result.error}`;
        line(`${mark} ${color.dim(`${Math.round(ms)} ms`)} ${oneLine(safeText(text), 160)}`);
        break;
      }
      case 'retry':
        line(color.yellow(`asking the model again: ${safeLine(event.reason)}`));
        break;
      case 'error':
        line(color.red(safeLine(event.error.message, 1_000)));
        break;
      case 'done':
        if (isInLine) out.line();
        if (event.message !== undefined) out.note(color.yellow(safeText(event.message)));
        if (event.end === 'failed') {
          out.note(`"ethosagent sessions resume ${safeLine(sessionId)}" asks the model again`);
        }
        return event;
      default:
    }
  }
  return undefined;
}
