import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { hasBubblewrap } from '@ethosagent/test-support';
import { createFileTools } from '@ethosagent/tools-file';
import type { AnyTool } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime } from './runtime-api.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { createToolRuntime } from './tool-runtime.js';

const canSandbox = hasBubblewrap();

let world: string;
let home: string;
let work: string;
let outside: string;
const open: ToolRuntime[] = [];

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'planted-roots-')));
  home = join(world, 'home');
  work = join(world, 'work');
  outside = join(world, 'outside');
  put(join(work, 'docs', 'a.txt'), 'mine');
  put(join(outside, 'a.txt'), 'of others');
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}

function personality(id: string, read: string[], write: string[], more = ''): void {
  const reach = JSON.stringify({ read, write });
  put(join(home, 'personalities', id, 'config.yaml'), `name: ${id}\nfs_reach: ${reach}\n${more}`);
}

const shell = defineTool({
  name: 'shell',
  description: 'Runs a line.',
  capabilities: {
    process: { allowedBinaries: ['sh'] },
    fs_reach: { read: 'from-personality', write: 'from-personality' },
  },
  input: z.object({ line: z.string() }),
  execute: async ({ line }, ctx) =>
    ok(JSON.stringify(await ctx.scopedProcess.spawn('sh', ['-c', line]))),
});

async function start(more: readonly AnyTool[] = []): Promise<ToolRuntime> {
  const tools = [...createFileTools(), shell, ...more];
  const runtime = await createToolRuntime({ home, personality: 'coder', cwd: work, tools });
  open.push(runtime);
  return runtime;
}

/** The problems, without the one about a shell without a sandbox. */
async function told(runtime: ToolRuntime): Promise<RuntimeProblem[]> {
  return (await runtime.problems()).filter(({ key }) => key !== 'safety.process.sandbox');
}

async function call(
  runtime: ToolRuntime,
  [name, args]: [string, unknown],
  personality = 'coder',
): Promise<string> {
  const [answer] = await runtime.execute([{ toolCallId: 'c', name, args }], {
    personality,
    protections: 'none',
  });
  if (answer === undefined) throw new Error('no answer');
  return answer.result.ok ? answer.result.value : answer.result.error;
}

/** What a process of the first personality may do, since it may write in the project. */
function plant(): void {
  renameSync(join(work, 'docs'), join(work, 'docs.old'));
  symlinkSync(outside, join(work, 'docs'));
}

const file = () => join(work, 'docs', 'a.txt');

describe('a root that becomes a link', () => {
  it.each(['before its first use', 'after a restart'])(
    'leads nowhere new %s, and is told when it is loaded',
    async (when) => {
      personality('coder', ['${CWD}/docs'], ['${CWD}']);
      let runtime = await start();
      await runtime.problems();
      plant();
      if (when === 'after a restart') {
        await runtime.close();
        runtime = await start();
        expect((await told(runtime)).map(({ key, message }) => [key, message])).toEqual([
          [
            'fs_reach.read',
            expect.stringContaining(`passes through the link ${join(work, 'docs')}`),
          ],
        ]);
      }
      expect(await call(runtime, ['read_file', { path: file() }])).toContain('PATH_NOT_REACHABLE');
      expect(await call(runtime, ['write_file', { path: file(), content: 'x' }])).toContain(
        'PATH_NOT_REACHABLE',
      );
      expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('of others');
    },
  );

  it('leads nowhere new before its first use where a tool declares it, and is shown after a restart', async () => {
    personality('coder', ['${CWD}'], ['${CWD}']);
    const docs = join(work, 'docs');
    const reader = defineTool({
      name: 'reader',
      description: 'Reads.',
      capabilities: { fs_reach: { read: [docs] } },
      input: z.object({}),
      execute: async (_args, ctx) => ok(await ctx.scopedFs.read(file())),
    });
    put(join(work, 'private', 'a.txt'), 'private');
    const shown = async (runtime: ToolRuntime) =>
      (await runtime.reach()).find(({ tool }) => tool === 'reader')?.grant.fs_reach;
    let runtime = await start([reader]);
    renameSync(docs, join(work, 'docs.old'));
    symlinkSync(join(work, 'private'), docs);
    expect(await call(runtime, ['reader', {}])).toContain('PATH_NOT_REACHABLE');
    expect(await shown(runtime)).toEqual({ read: [docs], write: [] });
    await runtime.close();
    runtime = await start([reader]);
    expect(await shown(runtime)).toMatchObject({ leads: { [docs]: join(work, 'private') } });
    expect(await call(runtime, ['reader', {}])).toBe('private');
  });

  it.runIf(canSandbox).each(['before its first use', 'after a restart'])(
    'shows a sandbox nothing new %s',
    async (when) => {
      const sandbox = 'safety: {process: {sandbox: required}}\n';
      personality('coder', ['${CWD}/docs'], ['${CWD}'], sandbox);
      let runtime = await start();
      await runtime.problems();
      plant();
      if (when === 'after a restart') {
        await runtime.close();
        runtime = await start();
      }
      const line = `cat ${file()} ${outside}/a.txt; cat ${work}/docs.old/a.txt`;
      const said = await call(runtime, ['shell', { line }]);
      expect(said).not.toContain('of others');
      expect(said).toContain('mine');
    },
  );

  it.each(['docs', 'docs/deep'])(
    'gives a second personality nothing where it is %s in what the first may write',
    async (root) => {
      personality('coder', ['${CWD}'], ['${CWD}']);
      personality('second', [`\${CWD}/${root}`], [`\${CWD}/${root}`]);
      mkdirSync(join(work, root), { recursive: true });
      mkdirSync(join(outside, 'deep'));
      const runtime = await start();
      plant();
      const path = join(work, root, 'new.txt');
      const wrote = await call(runtime, ['write_file', { path, content: 'x' }], 'second');
      expect(wrote).toContain('PATH_NOT_REACHABLE');
      expect(existsSync(join(outside, 'new.txt'))).toBe(false);
      expect(existsSync(join(outside, 'deep', 'new.txt'))).toBe(false);
    },
  );

  it('gives nothing while it is not known what a personality may write, and is judged then', async () => {
    personality('coder', ['${CWD}'], ['${CWD}']);
    personality('second', ['${CWD}/docs'], []);
    const config = join(home, 'personalities', 'coder', 'config.yaml');
    const known = readFileSync(config, 'utf8');
    plant();
    put(config, `${known}oops: [\n`);
    const runtime = await createToolRuntime({
      home,
      personality: 'second',
      cwd: work,
      tools: createFileTools(),
    });
    open.push(runtime);
    const read = () => call(runtime, ['read_file', { path: file() }], 'second');
    const problem = async () => (await told(runtime)).map(({ message }) => message).join('\n');
    expect(await read()).toContain('PATH_NOT_REACHABLE');
    expect(await problem()).toMatch(/a tool of coder may have made.*repair its file/);
    put(config, known);
    expect(await read()).toContain('PATH_NOT_REACHABLE');
    expect(await problem()).not.toMatch(/repair its file/);
    // A personality that may not write there has not made the link.
    personality('coder', [], []);
    put(
      join(home, 'personalities', 'second', 'config.yaml'),
      readFileSync(join(home, 'personalities', 'second', 'config.yaml'), 'utf8').concat(
        '# again\n',
      ),
    );
    expect(await read()).toContain('of others');
  });

  it('counts no folder without a file as a personality', async () => {
    mkdirSync(join(home, 'personalities', 'empty'), { recursive: true });
    symlinkSync(outside, join(world, 'operators'));
    personality('coder', [join(world, 'operators')], []);
    const runtime = await start();
    const read = await call(runtime, ['read_file', { path: join(world, 'operators', 'a.txt') }]);
    expect(read).toContain('of others');
  });

  it('may lead where whoever could make it may write, or be a link of the operator', async () => {
    mkdirSync(join(work, 'real'));
    symlinkSync(join(work, 'real'), join(work, 'inner'));
    symlinkSync(outside, join(world, 'operators'));
    personality('coder', ['${CWD}', join(world, 'operators')], ['${CWD}/inner', '${CWD}']);
    const runtime = await start();
    expect(await told(runtime)).toEqual([]);
    const path = join(work, 'inner', 'a.txt');
    expect(await call(runtime, ['write_file', { path, content: 'x' }])).not.toContain('REACHABLE');
    const read = await call(runtime, ['read_file', { path: join(world, 'operators', 'a.txt') }]);
    expect(read).toContain('of others');
  });
});
