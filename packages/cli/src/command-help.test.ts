import { describe, expect, it } from 'vitest';
import { helpAtOnce, helpText, ROOT } from './command-help.js';
import type { CommandSpec } from './command-spec.js';
import { createProgram } from './create-program.js';

function pathsBelow(path: readonly CommandSpec[]): CommandSpec[][] {
  return [
    [...path],
    ...(path.at(-1)?.children ?? []).flatMap((child) => pathsBelow([...path, child])),
  ];
}
const paths = pathsBelow([ROOT]);
const namesOf = (path: readonly CommandSpec[]) => path.slice(1).map(({ name }) => name);

/** The output of the parser, which reads the same table. */
async function byParser(argv: readonly string[]): Promise<string> {
  let shown = '';
  const out = (text: string) => {
    shown += text;
  };
  const program = createProgram({ out, columns: 60, onError: out, onRun: async () => {} });
  await program.parseAsync(argv, { from: 'user' }).catch(() => {});
  return shown;
}

describe('helpAtOnce', () => {
  it('says of every command what the parser says', async () => {
    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      const names = namesOf(path);
      const help = helpAtOnce([...names, '--help'], 60);
      expect(help).toContain(`Usage: ${['ethosagent', ...names].join(' ')}`);
      expect(helpAtOnce([...names, '-h'], 60)).toBe(help);
      expect(await byParser([...names, '--json', '--help'])).toBe(help);
      expect(await byParser(['help', ...names])).toBe(help);
    }
    expect(await byParser(['--json', '--version'])).toBe(helpAtOnce(['--version']));
  });

  it('is refused for a command that does not exist', async () => {
    expect(await byParser(['sessions', 'help', 'list'])).toBe(
      helpAtOnce(['sessions', 'list', '--help'], 60),
    );
    for (const argv of [
      ['help', 'nope'],
      ['help', 'lock', 'nope'],
      ['sessions', 'help', 'nope'],
    ]) {
      expect(await byParser(argv)).toMatch(/^error: unknown command '(lock )?nope'\n/);
    }
  });

  it.each([
    [[]],
    [['lock']],
    [['lokc', '--help']],
    [['lock', '--check', '--help']],
    [['lock', '--version']],
    [['--help', 'lock']],
    [['call', 'read_file', '--help']],
    [['record', '--', '--help']],
  ])('leaves %j to the parser', (argv) => {
    expect(helpAtOnce(argv)).toBeUndefined();
  });
});

describe('helpText', () => {
  it('names all arguments, options and commands of a command', () => {
    for (const path of paths) {
      const { options = [], children = [] } = path.at(-1) ?? ROOT;
      const help = helpText(path);
      for (const [flags, about] of [...options, ...(path.at(-1)?.args ?? [])]) {
        expect(help).toContain(flags.replace(/^[<[]|[>\]]$|\.\.\./g, ''));
        expect(help.replace(/\s+/g, ' ')).toContain(about);
      }
      for (const { name } of children) expect(help).toContain(`\n  ${name} `);
    }
  });

  it.each([70, 80, 200])('keeps to a terminal of %i columns', (columns) => {
    for (const path of paths)
      for (const line of helpText(path, columns).split('\n').slice(1))
        expect(line.length).toBeLessThanOrEqual(columns);
  });

  it('does not wrap where there is no room for it', () => {
    const help = helpText([ROOT], 10);
    expect(help).toContain('find what would fail at the first call');
  });
});
