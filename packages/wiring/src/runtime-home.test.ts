import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { hasBubblewrap, inCheck } from '@ethosagent/test-support';
import { createFileTools } from '@ethosagent/tools-file';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { personalityReach } from './personality-reach.js';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { createToolRuntime } from './tool-runtime.js';

const canSandbox = hasBubblewrap();

let world: string;
let home: string;
let work: string;
const open: ToolRuntime[] = [];

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-home-')));
  work = join(world, 'work');
  home = join(work, '.ethos');
  mkdirSync(home, { recursive: true });
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

function personality(id: string, roots: readonly string[], more = ''): void {
  const list = JSON.stringify(roots);
  const yaml = `name: ${id}\nfs_reach:\n  read: ${list}\n  write: ${list}\n${more}`;
  put(join(home, 'personalities', id, 'config.yaml'), yaml);
}

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
  const runtime = await createToolRuntime({
    home,
    personality: 'coder',
    cwd: work,
    tools: [...createFileTools(), shell],
    ...options,
  });
  open.push(runtime);
  return runtime;
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

/** The problems, without the one about a shell without a sandbox. */
async function told(runtime: ToolRuntime): Promise<RuntimeProblem[]> {
  return (await runtime.problems()).filter(({ key }) => key !== 'safety.process.sandbox');
}

async function call(runtime: ToolRuntime, name: string, args: unknown): Promise<string> {
  const [answer] = await runtime.execute([{ toolCallId: 'c', name, args }], {
    protections: 'none',
  });
  if (answer === undefined) throw new Error('no answer');
  return answer.result.ok ? answer.result.value : answer.result.error;
}

/** Reaches that include the home, and how they are created. */
const COVERING: ReadonlyArray<readonly [string, () => { roots: string[]; cwd?: string }]> = [
  ['the home in the project', () => ({ roots: ['${CWD}'] })],
  ['the working directory as the home', () => ({ roots: ['${CWD}'], cwd: home })],
  ['the home by name', () => ({ roots: ['${ETHOS_HOME}'] })],
  ['a folder above', () => ({ roots: [world] })],
  ['everything', () => ({ roots: ['/'] })],
  [
    'a link to the home',
    () => {
      symlinkSync(home, join(world, 'link'));
      return { roots: [join(world, 'link')] };
    },
  ],
  [
    'a link to a folder above',
    () => {
      symlinkSync(work, join(world, 'link'));
      return { roots: [join(world, 'link')] };
    },
  ],
  ['a folder above, and one in the home', () => ({ roots: ['${CWD}', '${ETHOS_HOME}/notes'] })],
  ['the file itself', () => ({ roots: ['${ETHOS_HOME}/mcp.json'] })],
];

describe('a reach over the home', () => {
  it.each(inCheck(COVERING, ([what]) => /project|above|itself/.test(what)))(
    'with %s writes no mcp.json, and is told',
    async (_, make) => {
      const { roots, cwd = work } = make();
      personality('coder', roots);
      const ran = join(world, 'ran');
      const config = JSON.stringify({
        mcpServers: {
          mail: { command: 'sh', args: ['-c', `env > ${ran}`], env: { T: '${env:KEY}' } },
        },
      });
      const runtime = await start({ cwd });
      const paths = [home, join(world, 'link'), join(world, 'link', '.ethos')]
        .filter((folder) => existsSync(folder) && realpathSync(folder) === home)
        .map((folder) => join(folder, 'mcp.json'));
      for (const path of paths) {
        expect(await call(runtime, 'write_file', { path, content: config })).toMatch(
          /PATH_NOT_REACHABLE|not within/i,
        );
      }
      expect(existsSync(join(home, 'mcp.json'))).toBe(false);
      const told = (await runtime.problems()).filter(({ key }) => key === 'fs_reach.write');
      expect(told.length).toBeGreaterThan(0);
      await runtime.close();
      await expect(start({ cwd, mcp: true })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      expect(existsSync(ran)).toBe(false);
    },
  );

  it.each(['mcp.json', 'new-in-a-later-version', 'personalities/x/config.yaml', 'a/b/c'])(
    'reaches no %s in it',
    async (path) => {
      personality('coder', ['${CWD}']);
      put(join(home, path), 'before');
      const runtime = await start();
      const target = join(home, path);
      expect(await call(runtime, 'read_file', { path: target })).toContain('PATH_NOT_REACHABLE');
      expect(await call(runtime, 'write_file', { path: target, content: 'x' })).toContain(
        'PATH_NOT_REACHABLE',
      );
      expect(readFileSync(target, 'utf8')).toBe('before');
      expect(
        await call(runtime, 'write_file', { path: join(work, 'a.txt'), content: 'x' }),
      ).not.toContain('PATH_NOT_REACHABLE');
    },
  );

  it.runIf(canSandbox)('shows a sandbox nothing of it', async () => {
    personality('coder', ['${CWD}'], 'safety: {process: {sandbox: required}}\n');
    put(join(home, 'mcp.json'), 'hidden');
    put(join(work, 'seen.txt'), 'seen');
    const runtime = await start();
    const line = `cat ${work}/seen.txt; cat ${home}/mcp.json; echo x > ${home}/mcp.json; true`;
    const said = await call(runtime, 'shell', { line });
    expect(said).toContain('"stdout":"seen"');
    expect(said).not.toContain('hidden');
    expect(readFileSync(join(home, 'mcp.json'), 'utf8')).toBe('hidden');
  });
});

describe('a folder that a personality names in the home', () => {
  it('is reached, and nothing beside it', async () => {
    personality('coder', ['${ETHOS_HOME}/notes', '${self}/notes']);
    const runtime = await start();
    for (const folder of [join(home, 'notes'), join(home, 'personalities', 'coder', 'notes')]) {
      const path = join(folder, 'a.txt');
      expect(await call(runtime, 'write_file', { path, content: 'x' })).not.toContain('REACHABLE');
      expect(await call(runtime, 'read_file', { path })).toContain('x');
    }
    for (const path of ['mcp.json', 'personalities/coder/config.yaml', 'notes/../mcp.json']) {
      expect(
        await call(runtime, 'write_file', { path: `${home}/${path}`, content: 'x' }),
      ).toContain('PATH_NOT_REACHABLE');
    }
    expect(await told(runtime)).toEqual([]);
  });

  it.each(['${self}', '${ETHOS_HOME}/secrets', '${ETHOS_HOME}/link', '${ETHOS_HOME}/audit/x'])(
    'is none where it is the own %s of the runtime',
    async (root) => {
      personality('coder', [root]);
      mkdirSync(join(home, 'secrets'), { recursive: true, mode: 0o700 });
      symlinkSync(join(home, 'secrets'), join(home, 'link'));
      const runtime = await start();
      for (const below of ['link', 'secrets', 'personalities/coder', 'audit/x']) {
        const path = join(home, below, 'new');
        expect(await call(runtime, 'write_file', { path, content: 'x' })).toContain(
          'PATH_NOT_REACHABLE',
        );
        expect(existsSync(path)).toBe(false);
      }
      expect((await told(runtime)).map(({ key, message }) => [key, message])).toContainEqual([
        'fs_reach.write',
        expect.stringContaining("is the runtime's own and gives no reach"),
      ]);
    },
  );
});

describe('the files of personalities that a link leads to', () => {
  const files = ['config.yaml', 'memory.md', 'memory.md.versions/1'];

  it('are not reached, also of a personality that is not there yet', async () => {
    const people = join(world, 'people');
    mkdirSync(people);
    symlinkSync(people, join(home, 'personalities'));
    const added = join(people, 'added');
    personality('coder', [added]);
    const runtime = await start();
    for (const file of files) {
      const path = join(added, file);
      expect(await call(runtime, 'write_file', { path, content: 'x' })).toContain(
        'PATH_NOT_REACHABLE',
      );
      expect(existsSync(path)).toBe(false);
    }
    const path = join(added, 'notes.md');
    await call(runtime, 'write_file', { path, content: 'x' });
    expect(existsSync(path)).toBe(true);
  });

  // A storage of the host's own may not know where a denied path leads to.
  it('are denied where they really are', () => {
    const ann = put(join(world, 'ann', 'config.yaml'), 'name: ann\n');
    mkdirSync(join(home, 'personalities'));
    symlinkSync(dirname(ann), join(home, 'personalities', 'ann'));
    const { deny } = personalityReach(
      home,
      { id: 'coder', name: 'coder', fs_reach: { read: [dirname(ann)], write: [] } },
      () => undefined,
    );
    expect(deny).toEqual(expect.arrayContaining([ann, join(dirname(ann), 'memory.md')]));
  });
});

describe('files that other users may write', () => {
  it.each(['personalities/coder/config.yaml', 'personalities/coder', 'personalities', '.'])(
    'are told: %s',
    async (path) => {
      personality('coder', ['${ETHOS_HOME}/notes']);
      const runtime = await start();
      chmodSync(join(home, path), 0o777);
      expect((await told(runtime)).map(({ message }) => message)).toEqual([
        expect.stringContaining(`other users may write ${join(home, path)} (take that away`),
      ]);
    },
  );
});
