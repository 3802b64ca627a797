import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultToolRegistry } from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import { searchFilesTool } from '@ethosagent/tools-file';
import { rgPath } from '@vscode/ripgrep';
import { sideBySide } from './side-by-side.js';

/** A package of some thousand files. */
const root = realpathSync(
  join(dirname(fileURLToPath(import.meta.url)), '../node_modules/@mastra/core'),
);

/** `search_files` beside the ripgrep that it runs, with the same pattern and filters. */
export async function run(): Promise<void> {
  for (const [name, pattern] of [
    ['many matches', 'function'],
    ['few matches', 'exponential backoff'],
    ['none', 'zebra crossing'],
  ] as const) {
    await sideBySide(`Searching ${name}`, [
      { name: 'ripgrep', operations: 1, run: () => ripgrep(pattern) },
      {
        name: 'search_files',
        operations: 1,
        run: () => searchFiles(pattern),
        goal: { atMost: 1.15, of: 'ripgrep' },
      },
    ]);
  }
}

/** As a person would ask: the lines with their numbers, the same files. */
async function ripgrep(pattern: string): Promise<void> {
  const filters = ['--no-config', '--no-messages', '--no-ignore', '--no-follow', '--smart-case'];
  const args = [...filters, '--line-number', `--regexp=${pattern}`, '--', '.'];
  const child = spawn(rgPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  await once(child, 'close');
}

const registry = new DefaultToolRegistry({
  storage: new FsStorage(),
  personalityFsReach: { read: [root], write: [] },
});
registry.registerAll([searchFilesTool]);

async function searchFiles(pattern: string): Promise<void> {
  const [answer] = await registry.executeParallel(
    [{ toolCallId: 'c', name: 'search_files', args: { pattern, include_ignored: true } }],
    {
      sessionId: 's',
      sessionKey: 'benchmark',
      platform: 'cli',
      workingDir: root,
      currentTurn: 1,
      messageCount: 1,
      abortSignal: new AbortController().signal,
      emit: () => {},
    },
  );
  if (answer?.result.ok !== true) throw new Error('search_files failed');
}
