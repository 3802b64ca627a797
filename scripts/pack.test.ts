import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outsideWorkspace } from './outside-workspace.js';
import { packAll } from './release/pack.js';
import { type Manifest, publishedPackages, ROOT } from './release/packages.js';
import { pnpm } from './release/pnpm.js';

// What a user gets: the packed packages, in a project that knows nothing of this workspace. Needs
// a build, which `pnpm check` makes first.

const packages = publishedPackages();
const hasPeers = ({ peerDependencies }: Manifest) => peerDependencies !== undefined;

let world: string;
let tarballs: Map<string, string>;

beforeAll(async () => {
  world = mkdtempSync(join(tmpdir(), 'ethos-pack-'));
  tarballs = await packAll(world);
});
afterAll(() => rmSync(world, { recursive: true, force: true }));

describe.each(packages.map(({ folder, manifest }) => [folder, manifest] as const))(
  'the tarball of %s',
  (_, manifest) => {
    const tarball = () => readFileSync(tarballs.get(manifest.name) ?? '');
    const buffer = () => Uint8Array.from(tarball()).buffer;

    it('satisfies publint', async () => {
      const { messages, pkg } = await publint({ pack: { tarball: buffer() }, level: 'warning' });
      expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
    });

    // A check compiles the entries of those without peers below, by a project that imports them, and
    // the pages' snippets by those of all (docs/snippets.test.ts).
    it.runIf(isLongRun())('has types that resolve under nodenext and bundler', async () => {
      const result = await checkPackage(createPackageFromTarballData(new Uint8Array(buffer())));
      const problems = result.types ? result.problems : [{ kind: 'no types' }];
      // ESM only: `require` finds no CommonJS, and TypeScript 4's resolution knows no subpaths.
      const expected = ['CJSResolvesToESM', 'NoResolution'];
      expect(
        problems.filter(
          (problem) =>
            !(expected[0] === problem.kind) &&
            !(
              problem.kind === expected[1] &&
              'resolutionKind' in problem &&
              problem.resolutionKind === 'node10'
            ),
        ),
      ).toEqual([]);
    });

    it('is small, has a licence and a page, and holds no tests, sources or local paths', () => {
      const files = execFileSync('tar', ['-tzf', tarballs.get(manifest.name) ?? ''], {
        encoding: 'utf8',
      }).split('\n');
      expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md']));
      // The largest package has 370 kB. A larger one contains something that does not belong in it.
      expect(tarball().length).toBeLessThan(500_000);
      // Those of `create` are what it writes.
      const ours = files.filter((file) => !file.startsWith('package/templates/'));
      expect(ours.filter((file) => /\.test\b|\/src\/|fixtures|tsbuildinfo/.test(file))).toEqual([]);
      expect(tarball().includes(ROOT)).toBe(false);
    });

    it('holds every file that one of its files imports', () => {
      const unpacked = mkdtempSync(join(world, 'unpacked-'));
      execFileSync('tar', ['-xzf', tarballs.get(manifest.name) ?? '', '-C', unpacked]);
      const programs = readdirSync(join(unpacked, 'package', 'dist'), {
        recursive: true,
        encoding: 'utf8',
      })
        .filter((file) => /\.c?js$/.test(file))
        .map((file) => join(unpacked, 'package', 'dist', file));
      const imported = programs.flatMap((file) =>
        [
          ...readFileSync(file, 'utf8').matchAll(/^[^`'\n]*\b(?:from|import)\b\(?\s*"(\.[^"]+)"/gm),
        ].map(([, path = '']) => join(file, '..', path)),
      );
      expect(programs).not.toEqual([]);
      expect(imported.filter((file) => !existsSync(file))).toEqual([]);
    });
  },
);

describe('an empty project outside the workspace', () => {
  const consumer = `
import { DefaultToolRegistry } from '@ethosagent/core';
import { ScopedFsImpl } from '@ethosagent/core/scoped';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { runTool } from '@ethosagent/plugin-sdk/testing';
import { FsStorage } from '@ethosagent/storage-fs';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { createFileTools } from '@ethosagent/tools-file';
import type { ToolCallResult } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { mkdtempSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'ethos-consumer-')));
mkdirSync(join(home, 'personalities', 'reader'), { recursive: true });
writeFileSync(join(home, 'personalities', 'reader', 'config.yaml'), 'name: Reader\\nfs_reach:\\n  read: ["\${ETHOS_HOME}/notes"]\\n');
mkdirSync(join(home, 'notes'));
writeFileSync(join(home, 'notes', 'a.txt'), 'hello from disk');

const shout = defineTool({
  name: 'shout',
  description: 'Says it louder.',
  input: z.object({ text: z.string() }),
  capabilities: {},
  execute: async ({ text }) => ok(text.toUpperCase()),
});
const store = createSqliteKvStore({ path: ':memory:' });
await store.kvStoreFactory('t', 'tool:t').set('k', 'v');
const scoped = new ScopedFsImpl(new FsStorage(), new Set([home]), new Set());
const runtime = await createToolRuntime({ home, personality: 'reader', tools: [shout, ...createFileTools()] });
const results: ToolCallResult[] = await runtime.execute([
  { toolCallId: '1', name: 'shout', args: { text: 'hi' } },
  { toolCallId: '2', name: 'read_file', args: { path: join(home, 'notes', 'a.txt') } },
  { toolCallId: '3', name: 'read_file', args: { path: '/etc/hostname' } },
]);
const alone = await new DefaultToolRegistry().executeParallel([], {
  sessionId: 's', sessionKey: 's', platform: 'test', workingDir: home, currentTurn: 1, messageCount: 0,
  abortSignal: new AbortController().signal, emit: () => {},
});
const tested = await runTool(shout, { text: 'x' });
console.log(JSON.stringify({
  shout: results[0]?.result, read: results[1]?.result.ok && results[1].result.value.includes('hello from disk'),
  outside: results[2]?.result.ok, kv: await store.kvStoreFactory('t', 'tool:t').get('k'),
  note: await scoped.read(join(home, 'notes', 'a.txt')), alone: alone.length, tested: tested.result.ok,
}));
store.close();
await runtime.close();
`;

  // Those with peers need the frameworks of others, which do as they like.
  const entries = packages
    .map(({ manifest }) => manifest)
    .filter((manifest) => !hasPeers(manifest))
    .flatMap(({ name, exports }) => Object.keys(exports).map((path) => name + path.slice(1)));

  let project: string;
  beforeAll(async () => {
    project = join(world, 'consumer');
    mkdirSync(project);
    const local = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]));
    const catalog = readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8');
    const version = (name: string) =>
      new RegExp(`'?${name}'?: (\\S+)`).exec(catalog)?.[1] ?? 'latest';
    const dependencies = { ...local, zod: version('zod') };
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({
        name: 'consumer',
        private: true,
        type: 'module',
        dependencies,
        devDependencies: {
          typescript: version('typescript'),
          '@types/node': version('@types/node'),
        },
      }),
    );
    // Peers are the frameworks of the adapters, some of them large: `main.ts` uses none, and each
    // adapter's own contract test runs on its framework.
    const workspace = outsideWorkspace(tarballs, { autoInstallPeers: isLongRun() });
    writeFileSync(join(project, 'pnpm-workspace.yaml'), workspace);
    writeFileSync(join(project, 'main.ts'), consumer);
    writeFileSync(
      join(project, 'entries.ts'),
      entries.map((entry, at) => `export * as entry${at} from '${entry}';\n`).join(''),
    );
    await pnpm(project, 'install', '--prefer-offline');
  });

  const modules: [string, string][] = [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ];
  it.each(inCheck(modules, ([module]) => module === 'nodenext'))(
    'compiles under module %s with resolution %s',
    (module, moduleResolution) => {
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            strict: true,
            target: 'es2022',
            module,
            moduleResolution,
            outDir: 'out',
            types: ['node'],
            skipLibCheck: false,
          },
          files: ['main.ts', 'entries.ts'],
        }),
      );
      const tsc = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
      // As in docs/tooling/compile.ts.
      const env = { GOGC: '400' };
      const compile = () => execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: project, env });
      expect(compile).not.toThrow();
    },
  );

  it('runs', () => {
    const printed = execFileSync(process.execPath, ['out/main.js'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(JSON.parse(printed)).toEqual({
      shout: { ok: true, value: 'HI' },
      read: true,
      outside: false,
      kv: 'v',
      note: 'hello from disk',
      alone: 0,
      tested: true,
    });
  });

  it.runIf(isLongRun())('imports every entry without a side effect', () => {
    // One entry after the other, so that the failing one is named. Names that begin with __zod belong to Zod.
    writeFileSync(
      join(project, 'side-effects.mjs'),
      `
const state = () => ({
  globals: Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith('__zod')).sort(),
  prototypes: [Object, Array, Function, String, Promise, Error].flatMap(({ prototype }) => Reflect.ownKeys(prototype).map(String)),
  environment: { ...process.env },
  folder: process.cwd(),
  listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  fetch: String(globalThis.fetch),
  open: process.getActiveResourcesInfo().filter((kind) => !/^(?:TTYWrap|PipeWrap|FSReq|CloseReq)/.test(kind)),
});
for (const entry of ${JSON.stringify(entries)}) {
  const before = JSON.stringify(state());
  await import(entry);
  const after = JSON.stringify(state());
  if (before !== after) console.log(entry, before, after);
}
`,
    );
    const printed = execFileSync(process.execPath, ['side-effects.mjs'], {
      cwd: project,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(printed).toBe('');
  });

  it('gets a home from "ethosagent init", with a tool that runs and is tested', () => {
    const bin = join(project, 'node_modules', '.bin', 'ethosagent');
    const ethosagent = (...args: string[]) =>
      execFileSync(bin, args, { cwd: project, encoding: 'utf8', stdio: 'pipe' });
    expect(ethosagent('init', '--yes')).toContain('npx ethosagent check');
    expect(ethosagent('call', 'count_words', '{"path":"workspace/hello.txt"}')).toContain(
      '8 words',
    );
    expect(() => ethosagent('call', 'count_words', '{"path":"package.json"}')).toThrow(
      'PATH_NOT_REACHABLE',
    );
    if (isLongRun()) {
      expect(ethosagent('check', '--strict')).toContain('0 errors, 0 warnings');
      expect(ethosagent('audit', 'verify')).toContain('none changed');
    }
    expect(
      execFileSync(process.execPath, ['--test', 'tools/count-words.test.mjs'], {
        cwd: project,
        encoding: 'utf8',
      }),
    ).toContain('pass 2');
  });
});
