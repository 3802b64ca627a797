import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { inCheck } from '@ethosagent/test-support';
import { createFileTools } from '@ethosagent/tools-file';
import type { ServiceScope } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

let home: string;
let runtime: ToolRuntime;

function put(name: string, text: string): void {
  const file = join(home, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const personality = (id: string, yaml: string) =>
  put(`personalities/${id}/config.yaml`, `name: ${id}\n${yaml}`);

const tuned = defineTool({
  name: 'tuned',
  description: 'Says what it was set to.',
  input: z.object({}),
  settings: z.strictObject({ limit: z.int().default(1) }),
  capabilities: {},
  execute: async (_, { settings }) => ok(`limit ${settings.limit}`),
});

const counter = defineTool({
  name: 'counter',
  description: 'Counts for its personality.',
  input: z.object({}),
  capabilities: { storage: { scope: 'personality', kind: 'kv' } },
  execute: async (_, { kvStore }) => ok(String(await kvStore.increment?.('n'))),
});

const keyed = defineTool({
  name: 'keyed',
  description: 'Says which secret it has.',
  input: z.object({}),
  capabilities: { secrets: ['key'] },
  execute: async (_, { secretsResolver }) => ok((await secretsResolver.get('key')).slice(9)),
});

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'met-')));
  put('shared/a.txt', 'shared');
  put('mine/a.txt', 'mine');
  put('theirs/a.txt', 'theirs');
  personality(
    'coder',
    'fs_reach: {read: ["${ETHOS_HOME}/shared", "${ETHOS_HOME}/mine"], write: ["${ETHOS_HOME}/mine"]}\n',
  );
  personality(
    'reviewer',
    'toolset: [read_file, tuned, counter]\nfs_reach: {read: ["${ETHOS_HOME}/shared", "${ETHOS_HOME}/theirs"]}\n',
  );
  runtime = await createToolRuntime({
    home,
    cwd: home,
    personality: 'coder',
    tools: [...createFileTools(), tuned, counter, keyed],
    secrets: async (ref) => `value of ${ref}`,
  });
});
afterEach(async () => {
  await runtime.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(id: string, name: string, args: object = {}): Promise<string> {
  const [answer] = await runtime.execute([{ toolCallId: '1', name, args }], {
    personality: id,
    protections: 'none',
  });
  if (answer === undefined) return 'no answer';
  return answer.result.ok ? answer.result.value : answer.result.error;
}
const read = (id: string, name: string) => run(id, 'read_file', { path: join(home, name) });

describe('a personality that two others met in', () => {
  it('is told of the tools of both', async () => {
    const names = async (id: string) => (await runtime.definitions(id)).map(({ name }) => name);
    expect(await names('coder/reviewer')).toEqual(['read_file', 'tuned', 'counter']);
    expect(await names('reviewer/coder')).toEqual(['read_file', 'tuned', 'counter']);
    expect((await runtime.personality('coder/reviewer')).id).toBe('coder/reviewer');
  });

  it.each([
    ['shared/a.txt', /shared/],
    ['mine/a.txt', /PATH_NOT_REACHABLE/],
    ['theirs/a.txt', /PATH_NOT_REACHABLE/],
    ['personalities/coder/config.yaml', /PATH_NOT_REACHABLE/],
    ['personalities/reviewer/config.yaml', /PATH_NOT_REACHABLE/],
  ])('reads %s: %s', async (name, answer) => {
    expect(await read('coder/reviewer', name)).toMatch(answer);
  });

  it('runs no tool that only one of them has', async () => {
    const args = { path: join(home, 'mine/b.txt'), content: 'x' };
    expect(await run('coder', 'write_file', args)).toMatch(/b\.txt/);
    expect(await run('coder/reviewer', 'write_file', args)).toMatch(/not among the tools/);
  });

  it('follows both files from one batch to the next', async () => {
    expect(await read('coder/reviewer', 'shared/a.txt')).toMatch(/shared/);
    personality('reviewer', 'fs_reach: {read: ["${ETHOS_HOME}/theirs"]}\n');
    expect(await read('coder/reviewer', 'shared/a.txt')).toMatch(/PATH_NOT_REACHABLE/);
    personality('reviewer', 'nonsense: 1\n');
    expect(await read('coder/reviewer', 'shared/a.txt')).toMatch(/CONFIG_INVALID/);
    expect(await read('coder', 'shared/a.txt')).toMatch(/shared/);
  });

  it('holds a tool back that both set differently, and keeps one that both set alike', async () => {
    expect(await run('coder/reviewer', 'tuned')).toBe('limit 1');
    personality('reviewer', 'tool_settings: {tuned: {limit: 5}}\n');
    expect(await run('reviewer', 'tuned')).toBe('limit 5');
    expect(await run('coder/reviewer', 'tuned')).toMatch(/tuned is held back: .*differently/);
    personality('coder', 'tool_settings: {tuned: {limit: 5}}\n');
    expect(await run('coder/reviewer', 'tuned')).toBe('limit 5');
  });

  it('has a secret where both have the same one', async () => {
    const secrets = (own: string) => `safety: {secrets: {key: ${own}}}\n`;
    personality('coder', secrets('a'));
    personality('reviewer', '');
    expect([await run('coder', 'keyed'), await run('reviewer', 'keyed')]).toEqual(['a', 'key']);
    expect(await run('coder/reviewer', 'keyed')).toMatch(
      /SECRET_NOT_DECLARED: key is not among the secrets/,
    );
    personality('reviewer', secrets('b'));
    expect(await run('coder/reviewer', 'keyed')).toMatch(/SECRET_NOT_DECLARED/);
    personality('reviewer', secrets('a'));
    expect(await run('coder/reviewer', 'keyed')).toBe('a');
  });

  it('has what it keeps to itself', async () => {
    const count = (id: string) => run(id, 'counter');
    personality('reviewer', 'toolset: [counter]\n');
    expect([
      await count('coder'),
      await count('coder'),
      await count('reviewer'),
      await count('coder/reviewer'),
      await count('coder/reviewer/coder'),
      await count('coder/coder'),
    ]).toEqual(['1', '2', '1', '1', '2', '3']);
  });

  it('does not reach through a link of one of them what the other may not', async () => {
    symlinkSync(join(home, 'mine'), join(home, 'shared', 'link'));
    personality('reviewer', 'fs_reach: {read: ["${ETHOS_HOME}/shared/link"]}\n');
    personality('coder', 'fs_reach: {read: ["${ETHOS_HOME}/shared"]}\n');
    expect(await read('reviewer', 'shared/link/a.txt')).toMatch(/mine/);
    expect(await read('coder', 'shared/link/a.txt')).toMatch(/PATH_NOT_REACHABLE/);
    expect(await read('coder/reviewer', 'shared/link/a.txt')).toMatch(/PATH_NOT_REACHABLE/);
  });

  it.each(
    inCheck(
      [
        'coder/nobody',
        'coder/',
        '/coder',
        'coder//reviewer',
        'coder/../reviewer',
        'coder/./reviewer',
        Array.from({ length: 20 }, (_, at) => `p${at}`).join('/'),
      ],
      (id) => /nobody|\.\.|p19/.test(id),
    ),
  )('is refused as %s', async (id) => {
    expect(await read(id, 'shared/a.txt')).toMatch(/CONFIG_INVALID/);
    await expect(runtime.definitions(id)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('what a tool keeps open', () => {
  const scopes: ServiceScope[] = [];
  const opener = defineTool({
    name: 'opener',
    description: 'Opens a service.',
    input: z.object({}),
    capabilities: { service: { scope: 'session' }, fs_reach: { read: 'from-personality' } },
    async execute(_, { services }) {
      scopes.push(await services.open());
      return ok('open');
    },
  });
  beforeEach(() => {
    scopes.length = 0;
    runtime.registry.register(opener);
    personality('reviewer', '');
  });
  const isOpen = () => scopes.map(({ signal }) => !signal.aborted);

  it('ends when the file of its personality, or of one that met in it, changes', async () => {
    for (const id of ['coder', 'reviewer', 'coder/reviewer']) await run(id, 'opener');
    expect(isOpen()).toEqual([true, true, true]);
    await run('coder/reviewer', 'tuned');
    expect(isOpen()).toEqual([true, true, true]);
    personality('reviewer', 'fs_reach: {read: ["${ETHOS_HOME}/shared"]}\n');
    await run('reviewer', 'tuned');
    expect(isOpen()).toEqual([true, false, false]);
    personality('coder', 'nonsense: 1\n');
    await run('coder', 'tuned');
    expect(isOpen()).toEqual([false, false, false]);
  });

  it('ends with its session, and with the runtime', async () => {
    const open = (sessionId: string) =>
      runtime.execute([{ toolCallId: '1', name: 'opener', args: {} }], { sessionId });
    await open('one');
    await open('two');
    await runtime.endSession('one');
    expect(isOpen()).toEqual([false, true]);
    await runtime.close();
    expect(isOpen()).toEqual([false, false]);
  });
});

describe('the tools of a turn', () => {
  it('are those of the personality that it names, and no others', async () => {
    const calls = ['read_file', 'tuned', 'counter'].map((name) => ({
      toolCallId: name,
      name,
      args: { path: join(home, 'shared/a.txt') },
    }));
    const seen: string[] = [];
    const results = await runtime.execute(calls, {
      tools: ['tuned', 'none'],
      host: { onResult: ({ name }) => seen.push(name) },
    });
    expect(results.map(({ result }) => result.ok)).toEqual([false, true, false]);
    expect(results[0]?.result).toMatchObject({
      code: 'not_available',
      error: 'read_file is not among the tools of this turn; use another tool',
    });
    expect(seen.sort()).toEqual(['counter', 'read_file', 'tuned']);
  });
});

describe('a folder that becomes a link', () => {
  it('is out of the next meet when it leads to where one of both may not go', async () => {
    put('shared/sub/a.txt', 'inside');
    put('secret/a.txt', 'outside');
    personality('narrow', 'fs_reach: {read: ["${ETHOS_HOME}/shared/sub"]}\n');
    // The meet is known now. No file is read later from which the folder's new place would be
    // learnt.
    await runtime.definitions('coder/narrow');
    rmSync(join(home, 'shared/sub'), { recursive: true });
    symlinkSync(join(home, 'secret'), join(home, 'shared/sub'));
    expect(await read('coder/narrow', 'shared/sub/a.txt')).toMatch(/^PATH_NOT_REACHABLE/);
    expect(await read('coder/narrow', 'secret/a.txt')).toMatch(/^PATH_NOT_REACHABLE/);
  });
});

describe('a call that waits', () => {
  const LESS = /^PATH_NOT_REACHABLE|changed while it waited|wrong now/;
  let onAsk: () => unknown;
  const waits = (id: string) =>
    runtime.execute(
      [{ toolCallId: '1', name: 'asked', args: { path: join(home, 'shared/sub/a.txt') } }],
      {
        personality: id,
        host: {
          approve: async () => {
            await onAsk();
            return true;
          },
        },
      },
    );
  const answerOf = async (answers: ReturnType<typeof waits>) => {
    const result = (await answers).at(-1)?.result;
    return result?.ok ? result.value : result?.error;
  };
  const asked = defineTool({
    name: 'asked',
    description: 'Reads once it is approved.',
    input: z.object({ path: z.string() }),
    requiresApproval: true,
    capabilities: { fs_reach: { read: 'from-personality' } },
    execute: async ({ path }, { scopedFs }) => ok((await scopedFs.read(path)) ?? 'nothing'),
  });
  const swapToLink = () => {
    rmSync(join(home, 'shared/sub'), { recursive: true });
    symlinkSync(join(home, 'secret'), join(home, 'shared/sub'));
  };
  beforeEach(() => {
    put('shared/sub/a.txt', 'inside');
    put('secret/a.txt', 'outside');
    personality('narrow', 'fs_reach: {read: ["${ETHOS_HOME}/shared/sub"]}\n');
    runtime.registry.register(asked);
    onAsk = () => {};
  });

  it('reads what both may', async () => {
    expect(await answerOf(waits('coder/narrow'))).toBe('inside');
  });

  it.each(['narrow', 'coder/narrow'])(
    'as %s reads nothing that a file has taken away meanwhile',
    async (id) => {
      onAsk = () => personality('narrow', 'fs_reach: {read: []}\n');
      expect(await answerOf(waits(id))).toMatch(LESS);
      personality('narrow', 'fs_reach: {read: ["${ETHOS_HOME}/shared/sub"]}\n');
      onAsk = () => rmSync(join(home, 'personalities/narrow/config.yaml'));
      expect(await answerOf(waits(id))).toMatch(LESS);
    },
  );

  it.each(['coder/narrow', 'narrow/coder'])(
    'as %s does not follow a folder that has become a link meanwhile',
    async (id) => {
      onAsk = swapToLink;
      expect(await answerOf(waits(id))).toMatch(LESS);
    },
  );

  it('does not follow a link that an earlier call of the batch has made', async () => {
    const swap = defineTool({
      name: 'swap',
      description: 'Makes a link.',
      input: z.object({}),
      capabilities: {},
      execute: async () => {
        swapToLink();
        return ok('swapped');
      },
    });
    const tools = [...createFileTools(), swap];
    const limits = { maxConcurrency: 1 };
    const single = await createToolRuntime({
      home,
      cwd: home,
      personality: 'coder',
      tools,
      limits,
    });
    try {
      const path = join(home, 'shared/sub/a.txt');
      const answers = single.execute(
        [
          { toolCallId: '0', name: 'swap', args: {} },
          { toolCallId: '1', name: 'read_file', args: { path } },
        ],
        { personality: 'coder/narrow', protections: 'none' },
      );
      expect(await answerOf(answers)).toMatch(/^PATH_NOT_REACHABLE/);
    } finally {
      await single.close();
    }
  });

  it.each([
    ['narrowed', 'fs_reach: {read: []}\n'],
    ['wrong', 'nonsense: 1\n'],
  ])('has no more than what is left when one of both is %s by then', async (_, yaml) => {
    onAsk = () => personality('coder', yaml);
    expect(await answerOf(waits('coder/narrow'))).toMatch(LESS);
    personality('coder', 'fs_reach: {read: ["${ETHOS_HOME}/shared"]}\n');
    onAsk = () => personality('narrow', yaml);
    expect(await answerOf(waits('coder/narrow'))).toMatch(LESS);
  });
});
