import { moduleGraph } from '@ethosagent/test-support';
import { expect, it } from 'vitest';

// The time until a command answers depends on what it loads. Modules are counted, since times
// depend on the machine.
const loadedWith = await moduleGraph(new URL('./bin.ts', import.meta.url));
const packagesOf = (module: string) =>
  loadedWith(new URL(module, import.meta.url)).filter((name) => !/^node:|\.ts$/.test(name));

it('--help loads its texts and no package', () => {
  expect(loadedWith(new URL('./bin.ts', import.meta.url))).toEqual([
    'bin.ts',
    'command-help.ts',
    'command-table.ts',
    'exit-codes.ts',
    'global-options.ts',
    'node:console',
    'node:os',
    'process-io.ts',
    'run-cli.ts',
    'version.ts',
  ]);
});

const SHARED = ['@ethosagent/policy', '@ethosagent/types', 'commander', 'picocolors'];

it('every command loads the parser, and what decides on texts', () => {
  expect(packagesOf('./run-command-line.ts')).toEqual(SHARED);
});

it.each([
  ['secrets-list', ['@ethosagent/storage-fs']],
  ['secrets-set', ['@ethosagent/storage-fs']],
  ['secrets-check', ['@ethosagent/storage-fs']],
  ['audit-tail', ['@ethosagent/audit']],
  ['audit-grep', ['@ethosagent/audit']],
  ['sessions-list', ['@ethosagent/core']],
  ['approvals-list', ['@ethosagent/core']],
  ['mcp-status', []],
  ['mcp-add', ['jsonc-parser']],
  ['completion', []],
  ['doctor', []],
  ['init', ['@ethosagent/create']],
  ['check', []],
  ['reach', []],
  ['lock', []],
  ['tools', []],
  ['call', []],
  ['run', []],
  ['chat', []],
])('%s loads %j beside, before it knows that it needs more', (name, own) => {
  const others = packagesOf(`./commands/${name}.ts`).filter((each) => !SHARED.includes(each));
  expect(others).toEqual(own);
});
