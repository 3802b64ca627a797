import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '@ethosagent/cli';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { REPOSITORY } from './tooling/markdown.js';

// Sessions at a terminal, in blocks of the language `console`. The commands run one after another, and the page
// must show their output (`vitest -u` updates it). Times and ids are replaced.
// `echo $?` gives the exit code of the command before it.

let project: string;
let exitCode: number;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'recording-')));
  mkdirSync(join(project, 'agent'));
  symlinkSync(join(REPOSITORY, 'docs', 'node_modules'), join(project, 'node_modules'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const CLI = 'npx ethosagent ';

async function outputOf(command: string): Promise<string> {
  const cwd = join(project, 'agent');
  if (command === 'echo $?') return `${exitCode}\n`;
  if (!command.startsWith(CLI)) {
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' });
    return stdout + stderr;
  }
  let shown = '';
  const write = (text: string) => {
    shown += text;
  };
  exitCode = await runCli(words(command.slice(CLI.length)), {
    cwd,
    env: {},
    out: write,
    err: write,
    readInput: async () => '',
    colors: false,
  });
  return shown;
}

/** The words of a command line. Text in single quotes is one word. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

function withoutChance(text: string): string {
  return text
    .replaceAll(join(project, 'agent'), '/home/ada/agent')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-02T03:04:05.678Z')
    .replace(/\b\d+ ms\b/g, '5 ms')
    .replace(/\b(cli|call)-[0-9a-f-]{8,}…?/g, '$1-1f0c…');
}

describe.each(['docs/tutorials/first-denial.md'])('%s', (path) => {
  it('shows what its commands write', async () => {
    const page = readFileSync(join(REPOSITORY, path), 'utf8');
    const commands = [...page.matchAll(/^\$ .+$/gm)];
    expect(commands.length).toBeGreaterThan(0);
    let shown = page;
    for (const [block, inside = ''] of page.matchAll(/^```console\n(.*?)^```$/gms)) {
      const lines: string[] = [];
      for (const [line] of inside.matchAll(/^\$ .+$/gm)) {
        const output = withoutChance(await outputOf(line.slice(2)));
        lines.push(`${line}\n`, output === '' || output.endsWith('\n') ? output : `${output}\n`);
      }
      shown = shown.replace(block, () => `\`\`\`console\n${lines.join('')}\`\`\``);
    }
    await expect(shown).toMatchFileSnapshot(join(REPOSITORY, path));
  });
});
