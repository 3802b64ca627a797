import type { KeptList, LeastPrivilege, NotGranted } from '@ethosagent/wiring/record';
import { createTwoFilesPatch } from 'diff';
import { counted, type Output, safeLine, safeText } from '../output.js';

const MAX_ROWS = 50;

/** The file of a personality as it is, and as the run needs it. */
export interface ShownFile {
  file: string;
  before: string;
  after: string;
}

/** The change of a file as a unified diff; empty if nothing changes. */
export function diffOf({ file, before, after }: ShownFile): string {
  if (before === after) return '';
  return createTwoFilesPatch(file, file, before, after, 'now', 'least');
}

/** Shows people what one personality needs. */
export function showLeast(least: LeastPrivilege, shown: ShownFile, out: Output): void {
  const { color } = out;
  out.line(color.bold(`personality ${safeLine(least.personality)}`));
  out.line(
    `  ${least.sessions.length === 1 ? 'session' : 'sessions'}: ${least.sessions
      .map(({ id, events }) => `${safeLine(id, 60)} (${counted(events, ['event', 'events'])})`)
      .join(', ')}`,
  );
  const diff = diffOf(shown);
  out.line();
  if (diff === '') out.line('The file says the least already.');
  else for (const line of diff.trimEnd().split('\n')) out.line(out.diffLine(line));
  out.line();
  out.line(color.bold('The smallest declarations'));
  for (const { tool, calls, capabilities } of least.declarations) {
    out.line(`  ${color.cyan(safeLine(tool))} (${counted(calls, ['call', 'calls'])})`);
    for (const [name, value] of Object.entries(capabilities)) {
      out.line(`    ${name}: ${safeText(JSON.stringify(value))}`);
    }
  }
  section('Left as it is', least.kept.map(keptText), out);
  section('Refused, and still refused', least.denied.map(grantText), out);
  section('Allowed, and not granted by itself', least.unclear.map(grantText), out);
  section('Never used', least.unused, out);
  out.line();
}

function section(title: string, rows: readonly string[], out: Output): void {
  if (rows.length === 0) return;
  out.line();
  out.line(out.color.bold(title));
  for (const row of rows.slice(0, MAX_ROWS)) out.line(`  ${safeLine(row, 1_000)}`);
  if (rows.length > MAX_ROWS) {
    out.line(`  … and ${rows.length - MAX_ROWS} more; --json shows all`);
  }
}

function keptText({ key, why }: KeptList): string {
  return `${key}: ${why}`;
}

function grantText({ tool, capability, target, why, count }: NotGranted): string {
  const times = count === 1 ? '' : ` (${count} times)`;
  return `${tool}: ${capability} ${safeLine(target, 500)}: ${why}${times}`;
}
