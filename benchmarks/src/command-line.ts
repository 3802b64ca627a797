import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processesSideBySide } from './process-time.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(repository, 'packages/cli/dist/bin.cjs');
const NODE = 'node -e 0';

const COMMANDS = [
  ['--help'],
  ['lock', '--help'],
  ['--version'],
  ['completion', 'bash'],
  ['secrets', 'list'],
  ['audit', 'tail'],
  ['audit', 'verify'],
  ['sessions', 'list'],
  ['approvals', 'list'],
  ['check'],
  ['tools'],
  ['reach'],
  ['lock', '--check'],
  ['call', 'count_words', '{"path":"workspace/hello.txt"}'],
  ['doctor'],
];

/** What the command costs a processor, built, on a home that `init` wrote. */
export async function run(): Promise<void> {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'bench-cli-')));
  const start = (args: readonly string[]) => {
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: project,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  };
  try {
    symlinkSync(join(repository, 'docs', 'node_modules'), join(project, 'node_modules'));
    for (const before of [['init', '--yes'], ['lock'], COMMANDS.at(-2) ?? []])
      start([BIN, ...before]);
    processesSideBySide(
      'The command line: a process each',
      { node: process.execPath, cwd: project },
      [
        { name: NODE, args: ['-e', '0'] },
        ...COMMANDS.map((command) => ({
          name: `ethosagent ${command.slice(0, 2).join(' ')}`,
          args: [BIN, ...command],
          ...(command.includes('--help') ? { goal: { atMost: 1.15, of: NODE } } : { beside: NODE }),
        })),
      ],
    );
  } finally {
    rmSync(project, { recursive: true });
  }
}
