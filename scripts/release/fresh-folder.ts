import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeOf, runBy, runNpm } from './nodes.js';
import type { Manifest, WorkspacePackage } from './packages.js';
import type { Quickstart } from './quickstarts.js';

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
  packages: readonly WorkspacePackage[];
  quickstarts: readonly Quickstart[];
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
  /** What each quickstart printed, by its page, and what it says that it prints. */
  quickstarts: Record<string, { printed: string; expected: string }>;
}

/** Installs the packages in an empty folder as a stranger does, and uses them. */
export async function tryFreshFolder(options: FreshFolderOptions): Promise<FreshFolderResult> {
  const { folder, major, packages, registry } = options;
  mkdirSync(folder, { recursive: true });
  const project = { name: 'fresh', private: true, type: 'module' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  writeFileSync(join(folder, '.npmrc'), `@ethosagent:registry=${registry}\n`);
  const node = await nodeOf(major);
  const within = { cwd: folder };
  const run = (...args: string[]) => runBy(node, args, within);

  const tooNew = packages.filter(({ manifest }) => !runsOn(manifest, major));
  const names = new Set(tooNew.map(({ manifest }) => manifest.name));
  const quickstarts = options.quickstarts.filter(
    (each) => !each.packages.some((name) => names.has(name)),
  );
  const whole = packages.map(({ manifest }) => manifest).filter(isWhole);
  const version = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
  const named = [
    ...whole.map(({ name }) => name),
    ...quickstarts.flatMap((each) => each.packages),
    'zod@4',
  ];
  const wanted = new Set(
    named.map((name) => (version.has(name) ? `${name}@${version.get(name)}` : name)),
  );
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', ...headersOf(node)];
  await runNpm(node, ['install', ...quiet, ...wanted], within);

  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  const program = JSON.parse(await run('program.mjs'));
  const entries = whole
    .filter(({ peerDependencies }) => peerDependencies === undefined)
    .flatMap(({ name, exports }) => Object.keys(exports).map((path) => name + path.slice(1)));
  const imports = `for (const entry of ${JSON.stringify(entries)}) { await import(entry); console.log(entry); }`;
  const imported = (await run('--input-type=module', '-e', imports)).trim().split('\n');

  await run(BIN, 'init', '--yes');
  const check = await run(BIN, 'check', '--strict');
  const call = await run(BIN, 'call', 'count_words', '{"path":"workspace/hello.txt"}');

  const printed: FreshFolderResult['quickstarts'] = {};
  for (const { page, program: text, output } of quickstarts) {
    // Each begins with a home of its own.
    for (const made of HOME) rmSync(join(folder, made), { recursive: true, force: true });
    await run(BIN, 'init', '--yes');
    writeFileSync(join(folder, 'first.mjs'), text);
    printed[page] = { printed: await run('first.mjs'), expected: output };
  }
  return { program, imported, check, call, quickstarts: printed };
}

/** The command line, in a folder that installed it. */
export const BIN = join('node_modules', '@ethosagent', 'cli', 'dist', 'bin.cjs');

/** What `ethosagent init` makes in a project. */
const HOME = ['.ethos', 'workspace', 'tools', 'first.mjs'];

/** @returns what npm is told of a Node: the headers that a machine may have are those of its own */
export function headersOf(node: string): string[] {
  return node === process.execPath ? [] : ['--nodedir='];
}

/** Whether a package needs no framework beside it. */
function isWhole({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): boolean {
  return Object.keys(peerDependencies).every(
    (name) => peerDependenciesMeta[name]?.optional === true,
  );
}

/** The newest Node of a major has what a package asks of that major. */
function runsOn({ engines }: Manifest, major: number): boolean {
  const [, least = '0'] = /^>=(\d+)/.exec(engines?.node ?? '') ?? [];
  return Number(least) <= major;
}
