import { takeStart } from '@ethosagent/policy';
import type { Snapshot } from './snapshot.js';

export interface ShownSnapshot {
  text: string;
  firstLine: number;
  lastLine: number;
  totalLines: number;
}

/** Renders as many lines of a snapshot as fit, and says where to read on. */
export function renderSnapshot(
  { lines, isPartial }: Pick<Snapshot, 'isPartial' | 'lines'>,
  { from = 1, maxChars }: { from?: number | undefined; maxChars: number },
): ShownSnapshot {
  let chars = 0;
  let end = from - 1;
  const shown: string[] = [];
  for (const line of lines.slice(from - 1)) {
    if (chars + line.length + 1 > maxChars) break;
    shown.push(line);
    chars += line.length + 1;
    end += 1;
  }
  const next = lines[end];
  if (shown.length === 0 && next !== undefined) {
    shown.push(`${takeStart(next, maxChars)}…`);
    end += 1;
  }
  if (lines.length === 0) shown.push('(the page is empty)');
  if (from > 1 || end < lines.length) {
    const rest =
      end < lines.length ? `; browser_snapshot with from_line ${end + 1} shows the rest` : '';
    shown.push(`[lines ${from} to ${end} of ${lines.length}${rest}]`);
  }
  if (isPartial) shown.push('[the page is larger than a snapshot can hold: not all of it is here]');
  return { text: shown.join('\n'), firstLine: from, lastLine: end, totalLines: lines.length };
}

/** Renders as many changes as fit. */
export function renderChanges(changes: readonly string[], maxChars: number): string {
  if (changes.length === 0) return 'Nothing on the page has changed.';
  const { text, lastLine } = renderSnapshot(
    { lines: [...changes], isPartial: false },
    { maxChars: Number.POSITIVE_INFINITY },
  );
  if (text.length <= maxChars) return `Changes (+ new, - gone):\n${text}`;
  return `Changes (+ new, - gone):\n${takeStart(text, maxChars)}…\n[of ${lastLine} lines; browser_snapshot shows the whole page]`;
}
