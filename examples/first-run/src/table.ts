import { styleText } from 'node:util';

/** One line of the demo's table. */
export interface Row {
  call: string;
  allowed: boolean;
  why: string;
  ms: number;
}

const WHY_WIDTH = 78;

/** Renders rows under a title. Colour only where a terminal shows it. */
export function renderTable(title: string, rows: readonly Row[], colour: boolean): string {
  const paint = (style: 'green' | 'red' | 'bold' | 'dim', text: string) =>
    colour ? styleText(style, text) : text;
  const callWidth = Math.max(...rows.map(({ call }) => call.length), 4);
  const head = `  ${'call'.padEnd(callWidth)}  decision  ${'why'.padEnd(WHY_WIDTH)}     time`;
  const lines = rows.map(({ call, allowed, why, ms }) => {
    const decision = paint(allowed ? 'green' : 'red', (allowed ? 'allowed' : 'refused').padEnd(8));
    const time = paint('dim', `${ms.toFixed(1)} ms`.padStart(9));
    return `  ${call.padEnd(callWidth)}  ${decision}  ${shorten(why).padEnd(WHY_WIDTH)}  ${time}`;
  });
  return [paint('bold', title), paint('dim', head), ...lines, ''].join('\n');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= WHY_WIDTH ? line : `${line.slice(0, WHY_WIDTH - 1)}…`;
}
