import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeOf, runBy, runNpm } from './nodes.js';
import type { Manifest } from './packages.js';

const PROGRAM = `
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { createFileTools } from '@ethosagent/tools-file';
import { createToolRuntime } from '@ethosagent/wiring';
import { z } from 'zod';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'ethos-fresh-')));
mkdirSync(join(home, 'personalities', 'reader'), { recursive: true });
const policy = 'name: Reader\\nfs_reach:\\n  read: ["\${ETHOS_HOME}/notes"]\\n';
writeFileSync(join(home, 'personalities', 'reader', 'config.yaml'), policy);
mkdirSync(join(home, 'notes'));
writeFileSync(join(home, 'notes', 'a.txt'), 'hello from disk');
const shout = defineTool({
  name: 'shout',
  description: 'Says it louder.',
  input: z.object({ text: z.string() }),
  capabilities: {},
  execute: async ({ text }) => ok(text.toUpperCase()),
});
const runtime = await createToolRuntime({ home, personality: 'reader', tools: [shout, ...createFileTools()] });
const [shouted, read, outside] = await runtime.execute([
  { toolCallId: '1', name: 'shout', args: { text: 'hi' } },
  { toolCallId: '2', name: 'read_file', args: { path: join(home, 'notes', 'a.txt') } },
  { toolCallId: '3', name: 'read_file', args: { path: '/etc/passwd' } },
]);
const store = createSqliteKvStore({ path: join(home, 'kv.db') });
await store.kvStoreFactory('t', 'tool:t').set('k', 'v');
console.log(JSON.stringify({
  node: Number(process.versions.node.split('.')[0]),
  shouted: shouted.result.value,
  read: read.result.value.includes('hello from disk'),
  outside: outside.result.cause,
  kept: await store.kvStoreFactory('t', 'tool:t').get('k'),
}));
store.close();
await runtime.close();
`;

export interface FreshFolderOptions {
  /** It does not exist yet. */
  folder: string;
  major: number;
  manifests: readonly Manifest[];
  /** Where the packages of this repository are; the others come from where npm gets them. */
  registry: string;
}

export interface FreshFolderResult {
  /** What the program said of itself. */
  program: unknown;
  /** The entries that could be imported. */
  imported: string[];
  /** What the command line said of the home that it made. */
  check: string;
  call: string;
}

/** Installs the packages in an empty folder as a stranger does, and uses them. */
export async function tryFreshFolder(options: FreshFolderOptions): Promise<FreshFolderResult> {
  const { folder, major, manifests, registry } = options;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "fresh", "private": true, "type": "module" }',
  );
  writeFileSync(join(folder, '.npmrc'), `@ethosagent:registry=${registry}\n`);
  const node = await nodeOf(major);
  const within = { cwd: folder };
  const wanted = manifests.filter(isWhole);
  const names = [...wanted.map(({ name, version }) => `${name}@${version}`), 'zod@4'];
  await runNpm(node, ['install', '--no-audit', '--no-fund', '--prefer-offline', ...names], within);

  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  const program = JSON.parse(await runBy(node, ['program.mjs'], within));
  const entries = wanted.flatMap(({ name, exports }) =>
    Object.keys(exports).map((path) => name + path.slice(1)),
  );
  const imports = `for (const entry of ${JSON.stringify(entries)}) { await import(entry); console.log(entry); }`;
  const imported = await runBy(node, ['--input-type=module', '-e', imports], within);

  const bin = join('node_modules', '@ethosagent', 'cli', 'dist', 'bin.js');
  await runBy(node, [bin, 'init', '--yes'], within);
  const check = await runBy(node, [bin, 'check', '--strict'], within);
  const call = await runBy(
    node,
    [bin, 'call', 'count_words', '{"path":"workspace/hello.txt"}'],
    within,
  );
  return { program, imported: imported.trim().split('\n'), check, call };
}

/** Whether a package needs no framework beside it. */
function isWhole({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): boolean {
  return Object.keys(peerDependencies).every(
    (name) => peerDependenciesMeta[name]?.optional === true,
  );
}
