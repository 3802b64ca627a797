import { relative } from 'node:path';
import type { LockChange } from '@ethosagent/wiring';
import type { CommandContext } from '../command-context.js';
import { safeLine } from '../output.js';
import type { ToolSource } from './tool-source.js';

/** A change, with the place where its tool is declared. */
export interface PlacedChange extends LockChange {
  source?: ToolSource;
}

const ORDER = ['widened', 'narrowed', 'text'] as const satisfies LockChange['kind'][];
const MAX_TOOLS = 5;

/** Shows the changes, the widened ones first. The same change in several tools is one line. */
export function tellLockChanges(
  changes: readonly PlacedChange[],
  { out, io }: Pick<CommandContext, 'out' | 'io'>,
): void {
  const paint = { widened: out.color.red, narrowed: out.color.green, text: out.color.dim };
  for (const kind of ORDER) {
    const lines = new Map<string, PlacedChange[]>();
    for (const change of changes.filter((each) => each.kind === kind)) {
      const { personality, message, file, line, source } = change;
      const key = JSON.stringify([personality, message, file, line, source]);
      lines.set(key, [...(lines.get(key) ?? []), change]);
    }
    for (const same of lines.values()) {
      const [first] = same;
      if (first === undefined) continue;
      out.line(`${paint[kind](kind)} ${textOf(first, same)}${placeOf(first, io.cwd)}`);
    }
  }

  function textOf({ personality, server, message }: LockChange, same: LockChange[]): string {
    const tools = same.flatMap(({ tool }) => tool ?? []);
    const more = tools.length > MAX_TOOLS ? [`and ${tools.length - MAX_TOOLS} more`] : [];
    const who = [
      ...(personality === undefined ? [] : [out.color.bold(safeLine(personality))]),
      ...(server === undefined ? [] : [safeLine(server)]),
      ...(tools.length === 0
        ? []
        : [[...tools.slice(0, MAX_TOOLS).map((tool) => safeLine(tool)), ...more].join(', ')]),
    ].join(' ');
    return `${who === '' ? '' : `${who}: `}${safeLine(message, 2_000)}`;
  }
}

function placeOf({ file, line, declared, source }: PlacedChange, cwd: string): string {
  const place =
    file === undefined ? [] : [`${relative(cwd, file)}${line === undefined ? '' : `:${line}`}`];
  const by = declared === undefined ? [] : [`declared in ${declared}${sourceText(source, cwd)}`];
  const all = [...place, ...by].map((each) => safeLine(each, 500)).join('; ');
  return all === '' ? '' : ` (${all})`;
}

/** Where the tool is declared; empty if that is not known. */
function sourceText(source: ToolSource | undefined, cwd: string): string {
  if (source?.file !== undefined) {
    return ` of the tool at ${relative(cwd, source.file)}:${source.line ?? 1}`;
  }
  return source?.package === undefined ? '' : ` of the tool, which is in ${source.package}`;
}
