import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CallError, MemoryAuditSink } from '@ethosagent/core';
import { definePlugin, defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { inCheck, tries } from '@ethosagent/test-support';
import { createFileTools } from '@ethosagent/tools-file';
import type { AnyTool, ToolCallResult } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';
import { verifyRuntimeAudit } from './verify-runtime-audit.js';

let world: string;
let home: string;
let work: string;
const open: ToolRuntime[] = [];

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-')));
  home = join(world, 'home');
  work = join(world, 'work');
  mkdirSync(work);
  personality('coder', 'name: Coder\nfs_reach:\n  read: ["${CWD}"]\n  write: ["${CWD}"]\n');
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

function personality(id: string, yaml: string): string {
  return put(join(home, 'personalities', id, 'config.yaml'), yaml);
}

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
  const runtime = await createToolRuntime({ home, personality: 'coder', cwd: work, ...options });
  open.push(runtime);
  return runtime;
}

function call(name: string, args: unknown = {}) {
  return [{ toolCallId: 'c', name, args }];
}

function text(results: ToolCallResult[]): string {
  const [first] = results;
  return first === undefined ? '' : first.result.ok ? first.result.value : first.result.error;
}

/** The files below a folder that this process holds open. */
function openBelow(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const file = readlinkSync(join('/proc/self/fd', descriptor));
      return file.startsWith(`${folder}/`) ? [file] : [];
    } catch {
      // It was the descriptor of this listing.
      return [];
    }
  });
}

const counter = defineTool({
  name: 'counter',
  description: 'Counts.',
  capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
  input: z.object({}),
  async execute(_, ctx) {
    const count = Number((await ctx.kvStore.get('n')) ?? 0) + 1;
    await ctx.kvStore.set('n', `${count}`);
    return ok(`${count}`);
  },
});

describe('a result of a runtime', () => {
  it.each(['session', 'none'] as const)(
    'says how long its tool ran, with the protections of %s',
    async (protections) => {
      const folder = mkdtempSync(join(tmpdir(), 'durations-'));
      mkdirSync(join(folder, 'personalities', 'p'), { recursive: true });
      writeFileSync(join(folder, 'personalities', 'p', 'config.yaml'), 'name: P\n');
      const weather = (structured: Record<string, unknown>) =>
        defineTool({
          name: 'weather',
          description: 'Weather.',
          schema: { type: 'object' },
          outputSchema: { type: 'object', properties: { c: { type: 'number' } }, required: ['c'] },
          returnDirect: true,
          capabilities: {},
          execute: async () => ok('warm', { structured }),
        });
      const call = { toolCallId: 'c', name: 'weather', args: {} };
      const results = [];
      for (const structured of [{ c: 20 }, { c: 'warm' }]) {
        const runtime = await createToolRuntime({
          home: folder,
          personality: 'p',
          tools: [weather(structured)],
        });
        expect(await runtime.definitions()).toMatchObject([
          { outputSchema: { required: ['c'] }, returnDirect: true },
        ]);
        const unknown = { ...call, toolCallId: 'd', name: 'nothing' };
        results.push(await runtime.execute([call, unknown], { protections }));
        await runtime.close();
      }
      rmSync(folder, { recursive: true });
      const [right, wrong] = results;
      expect(right?.[0]).toMatchObject({ result: { ok: true }, durationMs: expect.any(Number) });
      expect(right?.[0]?.durationMs).toBeGreaterThan(0);
      expect(right?.[1]).toMatchObject({ result: { ok: false }, durationMs: 0 });
      expect(wrong?.[0]?.result).toMatchObject({ ok: false, cause: 'TOOL_INVALID' });
    },
  );
});

describe('createToolRuntime is not given', () => {
  it.each(
    inCheck(
      [
        ['a relative cwd', { cwd: 'work' }, /: cwd: work is not an absolute path/],
        ['a cwd that does not exist', { cwd: '/no/such folder' }, /: cwd: there is no folder \/no/],
        ['a file as cwd', { cwd: import.meta.filename }, /: cwd: there is no folder /],
        ['tools that are no list', { tools: 'read_file' }, /: tools is not a list/],
        ['plugins that are no list', { plugins: {} }, /: plugins is not a list/],
        ['a name for a list of names', { passEnv: 'PATH' }, /: passEnv must be a list/],
        ['a path for a list of paths', { denyPaths: '/etc' }, /: denyPaths must be a list/],
        ['true for an audit', { audit: true }, /: audit is no sink with `record`/],
        ['an audit that records nothing', { audit: [{}] }, /: audit is no sink with `record`/],
        ['a number for the session', { sessionId: 3 }, /: the session id of type number/],
        ['true for who approves', { approve: true }, /: approve is not a function/],
        [
          'an invalid bridge',
          { mcp: () => ({ start() {} }) },
          /: mcp gave no bridge: it has no stop, status/,
        ],
        ['nothing for a bridge', { mcp: () => undefined }, /: mcp gave no bridge/],
        ['another value for mcp', { mcp: 'yes' }, /: mcp is neither true, 'pinned' nor a function/],
      ],
      ([what]) => /^(a relative cwd|a cwd that|an invalid bridge|a path for|an audit)/.test(what),
    ),
  )('%s', async (_, options, message) => {
    // As plain JavaScript may pass it.
    const given: object = options;
    await expect(start(given)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
    expect(openBelow(home)).toEqual([]);
  });
});

describe('a tool with a plain schema', () => {
  const plain = (rest: Partial<AnyTool> = {}): AnyTool => ({
    name: 'plain',
    description: 'Greets.',
    schema: { type: 'object', properties: { name: { type: 'string', pattern: '^[A-Z]' } } },
    capabilities: {},
    execute: async (args) => ok(JSON.stringify(args)),
    ...rest,
  });

  it('gets no arguments that its schema forbids', async () => {
    const runtime = await start({ tools: [plain()] });
    const [wrong] = await runtime.execute(call('plain', { name: 'ada' }));
    expect(wrong?.result).toEqual({
      ok: false,
      code: 'input_invalid',
      error: 'name: must match pattern "^[A-Z]"',
      cause: 'INPUT_INVALID',
    });
    const [right] = await runtime.execute(call('plain', { name: 'Ada' }));
    expect(right?.result).toMatchObject({ ok: true, value: '{"name":"Ada"}' });
  });

  it('gets them where it says so, or the host takes the check out', async () => {
    const trusting = await start({ tools: [plain({ validateSchema: false })] });
    const without = await start({ tools: [plain()], limits: { checkSchema: undefined } });
    for (const runtime of [trusting, without]) {
      const [answer] = await runtime.execute(call('plain', { name: 'ada' }));
      expect(answer?.result).toMatchObject({ ok: true });
    }
  });

  it('is not called when the schema is wrong', async () => {
    const runtime = await start({ tools: [plain({ schema: { type: 'thing' } })] });
    const [answer] = await runtime.execute(call('plain'));
    expect(answer?.result).toMatchObject({
      code: 'not_available',
      error: expect.stringContaining('the schema of plain is wrong'),
    });
  });
});

describe('createToolRuntime fails closed', () => {
  it.each(
    inCheck(
      [
        ['an unknown key', 'name: C\nfs_raech: {}\n', ['config.yaml:2', 'fs_raech']],
        ['a wrong type', 'name: C\ntoolset: 3\n', ['config.yaml:2', 'toolset']],
        ['no name', 'description: x\n', ['config.yaml', 'name']],
        [
          'a bad host rule',
          'name: C\nsafety:\n  network:\n    allow: ["a b"]\n',
          ['config.yaml:4', 'allow'],
        ],
        [
          'a relative path',
          'name: C\nfs_reach:\n  read: ["x"]\n',
          ['config.yaml:3', 'fs_reach.read'],
        ],
        [
          'an unknown variable',
          'name: C\nfs_reach:\n  read: ["${HOME}"]\n',
          ['config.yaml:3', 'HOME'],
        ],
      ],
      ([what]) => ['an unknown key', 'a bad host rule'].includes(what),
    ),
  )('on %s, naming file and key', async (_, yaml, fragments) => {
    personality('coder', yaml);
    const failure = await start().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
    for (const fragment of fragments) expect(String(failure)).toContain(fragment);
  });

  it('on a personality that is not there', async () => {
    await expect(start({ personality: 'nobody' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  const MALFORMED: [string, Partial<AnyTool['capabilities']>, string][] = [
    ['a host', { network: { allowedHosts: ['a b'] } }, 'network'],
    ['a path', { fs_reach: { read: ['/data/../etc'] } }, 'fs_reach.read'],
    ['a ref', { secrets: ['a//b'] }, 'secrets'],
    ['a binary', { process: { allowedBinaries: ['./git'] } }, 'process'],
  ];
  it.each(inCheck(MALFORMED, ([what]) => what === 'a path'))(
    'on a tool that declares %s that is malformed',
    async (_, capabilities, key) => {
      const tool = { ...counter, name: 'bad', capabilities };
      const failure = await start({ tools: [tool] }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'TOOL_INVALID' });
      expect(String(failure)).toContain(`bad: ${key}`);
    },
  );

  it.each(
    inCheck(
      [
        ['no capabilities', { capabilities: undefined }],
        ['null for capabilities', { capabilities: null }],
        ['text for a list of hosts', { capabilities: { network: { allowedHosts: 'x' } } }],
        ['no function', { execute: undefined }],
      ],
      ([what]) => ['no capabilities', 'no function'].includes(what),
    ),
  )('on a tool with %s', async (_, wrong) => {
    const tool = Object.assign({}, counter, wrong);
    await expect(start({ tools: [tool] })).rejects.toMatchObject({ code: 'TOOL_INVALID' });
    expect(openBelow(home)).toEqual([]);
  });

  it('on an audit log that can not be made, and closes the store', async () => {
    const audit = put(join(home, 'audit'), 'a file');
    const failure = await start().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(String(failure)).toContain(audit);
    expect(openBelow(home)).toEqual([]);
  });

  it.each([
    ['personality', { personality: undefined }],
    ['home', { home: undefined }],
  ])('on options without %s', async (_, missing) => {
    const options = Object.assign({ home, personality: 'coder', cwd: work }, missing);
    await expect(createToolRuntime(options)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('on a damaged database, and leaves it as it was', async () => {
    const file = put(join(home, 'state.sqlite'), 'not a database, but somebody wants it');
    await expect(start()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect(readFileSync(file, 'utf8')).toContain('somebody wants it');
  });

  it('on a plugin that throws half-way, and can be started again afterwards', async () => {
    const broken = definePlugin({
      id: 'broken',
      activate(api) {
        api.registerTool(counter);
        throw new Error('half-way');
      },
    });
    await expect(start({ plugins: [broken] })).rejects.toThrow('half-way');
    expect(text(await (await start({ tools: [counter] })).execute(call('counter')))).toBe('1');
  });
});

describe('createToolRuntime without cwd', () => {
  it('takes the working directory of the call, wherever the host goes while it waits', async () => {
    const elsewhere = join(world, 'elsewhere');
    mkdirSync(elsewhere);
    put(join(work, 'note.txt'), 'of the call');
    put(join(elsewhere, 'secret.txt'), 'of later');
    const before = process.cwd();
    process.chdir(work);
    const opening = createToolRuntime({ home, personality: 'coder', tools: createFileTools() });
    process.chdir(elsewhere);
    const runtime = await opening.finally(() => process.chdir(before));
    open.push(runtime);
    const read = async (path: string) => text(await runtime.execute(call('read_file', { path })));
    expect(await read(join(work, 'note.txt'))).toContain('of the call');
    expect(await read(join(elsewhere, 'secret.txt'))).toContain('not permitted');
  });
});

describe('createToolRuntime with options that the host changes while it waits', () => {
  it('takes them as they were, with what they inherit', async () => {
    const denied = join(work, 'denied.txt');
    put(denied, 'secret');
    const options = Object.assign(Object.create({ denyPaths: [denied] }), {
      home,
      cwd: work,
      personality: 'coder',
      tools: createFileTools(),
    });
    const opening = createToolRuntime(options);
    options.cwd = '/';
    options.personality = 'nobody';
    options.tools = [];
    const runtime = await opening;
    open.push(runtime);
    expect(text(await runtime.execute(call('read_file', { path: denied })))).toContain(
      'not permitted',
    );
  });
});

describe('ToolRuntime.execute', () => {
  it('keeps state over a restart', async () => {
    const first = await start({ tools: [counter] });
    expect(text(await first.execute(call('counter')))).toBe('1');
    await first.close();
    expect(text(await (await start({ tools: [counter] })).execute(call('counter')))).toBe('2');
  });

  it('takes up a change of the personality with the next batch, and its mistakes', async () => {
    const runtime = await start({ tools: createFileTools() });
    const file = put(join(work, 'a.txt'), 'A');
    expect(text(await runtime.execute(call('read_file', { path: file })))).toContain('A');
    personality('coder', 'name: Coder\nfs_reach:\n  read: ["${ETHOS_HOME}/notes"]\n');
    expect(text(await runtime.execute(call('read_file', { path: file })))).toContain(
      'PATH_NOT_REACHABLE',
    );
    personality('coder', 'name: Coder\nfs_raech: 1\n');
    const [refused] = await runtime.execute(call('read_file', { path: file }));
    expect(refused?.result).toMatchObject({ ok: false, code: 'not_available' });
    expect(text([refused].flatMap((each) => each ?? []))).toContain('fs_raech');
    await expect(runtime.definitions()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    personality('coder', 'name: Coder\nfs_reach:\n  read: ["${CWD}"]\n');
    expect(text(await runtime.execute(call('read_file', { path: file })))).toContain('A');
  });

  it('ends what runs in the background when its personality changes', async () => {
    const background = defineTool({
      name: 'background',
      description: 'Starts a process, or types into it.',
      input: z.object({ text: z.string().optional() }),
      capabilities: {
        process: { allowedBinaries: ['sh'], background: true },
        fs_reach: { read: 'from-personality' },
      },
      async execute({ text }, { scopedProcess: { background } }) {
        if (background === undefined) return err('no background');
        const { id } = await (text === undefined
          ? background.start('sh', [], { cwd: work, keepsInput: true })
          : background.write('bg-1', `${text}\n`));
        return ok(id);
      },
    });
    const runtime = await start({ tools: [background, ...createFileTools()] });
    expect(text(await runtime.execute(call('background')))).toBe('bg-1');
    expect(text(await runtime.execute(call('background', { text: 'cd /' })))).toBe('bg-1');
    personality('coder', 'name: Coder\nfs_reach:\n  read: ["${ETHOS_HOME}/notes"]\n');
    const made = join(work, 'made');
    const refused = await runtime.execute(call('background', { text: `echo x > ${made}` }));
    expect(text(refused)).toContain('PROCESS_ENDED: bg-1 has ended');
    expect(existsSync(made)).toBe(false);
  });

  it('runs two personalities at once without mixing them', async () => {
    personality('other', 'name: Other\nfs_reach:\n  read: ["${ETHOS_HOME}/other"]\n');
    const mine = put(join(work, 'a.txt'), 'A');
    const theirs = put(join(home, 'other', 'b.txt'), 'B');
    const runtime = await start({ tools: createFileTools() });
    const read = (path: string, personality: string) =>
      runtime.execute(call('read_file', { path }), { personality });
    const rounds = await Promise.all(
      Array.from({ length: tries({ check: 10, long: 50 }) }, async () => [
        text(await read(mine, 'coder')),
        text(await read(theirs, 'other')),
        text(await read(theirs, 'coder')),
        text(await read(mine, 'other')),
      ]),
    );
    for (const [a, b, c, d] of rounds) {
      expect(a).toContain('A');
      expect(b).toContain('B');
      expect(c).toContain('PATH_NOT_REACHABLE');
      expect(d).toContain('PATH_NOT_REACHABLE');
    }
  });

  it.each(
    inCheck(
      [
        'state.sqlite',
        'secrets/providers/x',
        'audit/audit.jsonl',
        'attachments/ab/cd',
        'personalities/coder/config.yaml',
        'personalities/other/config.yaml',
      ],
      (path) => /^state|^secrets|other/.test(path),
    ),
  )('keeps tools from <home>/%s, though the reach covers the home', async (path) => {
    personality(
      'coder',
      'name: C\nfs_reach:\n  read: ["${ETHOS_HOME}"]\n  write: ["${ETHOS_HOME}"]\n',
    );
    personality('other', 'name: O\n');
    put(join(home, 'secrets', 'providers', 'x'), 'sk-secret');
    put(join(home, 'attachments', 'ab', 'cd'), 'of another turn');
    const runtime = await start({ tools: [counter, ...createFileTools()] });
    await runtime.execute(call('counter'));
    const target = join(home, path);
    const before = readFileSync(target);
    for (const args of [{ path: target }, { path: target, content: 'pwned' }]) {
      const name = 'content' in args ? 'write_file' : 'read_file';
      expect(text(await runtime.execute(call(name, args), { protections: 'none' }))).toContain(
        'PATH_NOT_REACHABLE',
      );
    }
    if (!path.startsWith('audit')) expect(readFileSync(target)).toEqual(before);
  });

  it('keeps tools from making a personality, and from their own where they have its folder', async () => {
    const wide = 'name: C\nfs_reach:\n  write: ["${ETHOS_HOME}"]\n  read: ["${ETHOS_HOME}"]\n';
    const own = 'name: C\nfs_reach:\n  write: ["${self}/notes"]\n  read: ["${self}/notes"]\n';
    const runtime = await start({ tools: createFileTools() });
    const write = async (path: string) =>
      text(
        await runtime.execute(call('write_file', { path: join(home, path), content: 'name: X' }), {
          protections: 'none',
        }),
      );
    const both = own.replace('write: [', 'write: ["${ETHOS_HOME}", ');
    for (const reach of [wide, own, own.replaceAll('/notes', ''), both]) {
      personality('coder', reach);
      expect(await write('personalities/new/config.yaml')).toContain('PATH_NOT_REACHABLE');
      expect(await write('personalities/coder/config.yaml')).toContain('PATH_NOT_REACHABLE');
      expect(await write('personalities/coder/memory.md')).toContain('PATH_NOT_REACHABLE');
      expect(await write('notes.md')).toContain('PATH_NOT_REACHABLE');
    }
    personality('coder', own);
    expect(await write('personalities/coder/notes/a.md')).not.toContain('PATH_NOT_REACHABLE');
  });

  it.each(
    inCheck(
      [
        ['its folder', 'personalities/b', 'personalities/b/config.yaml'],
        ['its folder, before it is there', 'personalities/new', 'personalities/new/config.yaml'],
        ['its file', 'personalities/b/config.yaml', 'personalities/b/config.yaml'],
        ['a link to its folder', 'link', 'link/config.yaml'],
        ['where its folder is a link to', 'elsewhere', 'elsewhere/config.yaml'],
        ['where its file is a link to', 'elsewhere', 'elsewhere/d.yaml'],
        ['where its folder is a link to, by the home', '', 'elsewhere/config.yaml'],
      ],
      ([what]) => what !== 'its file' && !what.includes('by the home'),
    ),
  )(
    'keeps tools from the file of another personality with %s in the reach',
    async (_, root, path) => {
      personality('b', 'name: B\n');
      symlinkSync(join(home, 'personalities', 'b'), join(home, 'link'));
      put(join(home, 'elsewhere', 'config.yaml'), 'name: C\n');
      put(join(home, 'elsewhere', 'd.yaml'), 'name: D\n');
      symlinkSync(join(home, 'elsewhere'), join(home, 'personalities', 'c'));
      mkdirSync(join(home, 'personalities', 'd'));
      symlinkSync(
        join(home, 'elsewhere', 'd.yaml'),
        join(home, 'personalities', 'd', 'config.yaml'),
      );
      personality('coder', `name: A\nfs_reach:\n  write: ["\${ETHOS_HOME}/${root}"]\n`);
      const runtime = await start({ tools: createFileTools() });
      const target = join(home, path);
      const before = existsSync(target) && readFileSync(target, 'utf8');
      const args = { path: target, content: 'name: X\n' };
      expect(
        text(await runtime.execute(call('write_file', args), { protections: 'none' })),
      ).toContain('PATH_NOT_REACHABLE');
      expect(existsSync(target) && readFileSync(target, 'utf8')).toBe(before);
    },
  );

  it('keeps deny paths from the storage that tools share', async () => {
    const denied = put(join(work, 'denied', 'a.txt'), 'A');
    const open = put(join(work, 'open.txt'), 'O');
    const reads = defineTool({
      name: 'reads',
      description: 'Reads through the storage of the turn.',
      capabilities: { fs_reach: { read: 'from-personality' } },
      input: z.object({ path: z.string() }),
      execute: async ({ path }, ctx) => ok((await ctx.storage?.read(path)) ?? 'nothing'),
    });
    const runtime = await start({ tools: [reads], denyPaths: [join(work, 'denied')] });
    expect(text(await runtime.execute(call('reads', { path: open })))).toBe('O');
    expect(text(await runtime.execute(call('reads', { path: denied })))).toContain(
      'PATH_NOT_REACHABLE',
    );
  });

  it('runs no calls that wait while the file goes wrong', async () => {
    const file = put(join(work, 'a.txt'), 'A');
    const breaks = defineTool({
      name: 'breaks',
      description: 'Stands for an operator who makes a mistake meanwhile.',
      capabilities: {},
      input: z.object({}),
      async execute() {
        personality('coder', 'name: Coder\nfs_raech: 1\n');
        return ok(text(await runtime.execute(call('read_file', { path: file }))));
      },
    });
    const runtime: ToolRuntime = await start({
      tools: [breaks, ...createFileTools()],
      limits: { maxConcurrency: 1 },
    });
    const [first, ...second] = await runtime.execute([
      ...call('breaks'),
      ...call('read_file', { path: file }),
    ]);
    expect(first?.result).toMatchObject({ ok: true, value: expect.stringContaining('fs_raech') });
    expect(text(second)).toContain('changed while it waited');
  });

  it.each(
    inCheck([['undefined'], ['null'], ['{}'], ['"text"'], ['7']], ([json]) =>
      ['null', '{}'].includes(json),
    ),
  )('answers %s instead of a list by saying so', async (json) => {
    const runtime = await start({ tools: [counter] });
    const calls = json === 'undefined' ? undefined : JSON.parse(json);
    expect(await runtime.execute(calls)).toMatchObject([{ result: { code: 'input_invalid' } }]);
  });

  it('answers what is no object in its place, whether or not the others can run', async () => {
    const runtime = await start({ tools: [counter] });
    const calls = JSON.parse(
      '[null, {"toolCallId":"c","name":"counter","args":{}}, "text", {"toolName":"counter"}]',
    );
    const wrong = (number: number) => ({
      toolCallId: undefined,
      name: undefined,
      result: {
        ok: false,
        code: 'input_invalid',
        error: `call ${number} is not an object with toolCallId, name and args`,
        cause: 'INPUT_INVALID',
      },
      durationMs: 0,
    });
    const durationMs = expect.any(Number);
    const counted = (result: unknown) => ({ toolCallId: 'c', name: 'counter', result, durationMs });
    const first = await runtime.execute(calls);
    expect(first).toEqual([wrong(1), counted({ ok: true, value: '1' }), wrong(3), wrong(4)]);
    await runtime.close();
    const refused = counted({
      ok: false,
      code: 'not_available',
      error: 'the call did not run: the runtime is closed',
      cause: 'CALL_ABORTED',
    });
    expect(await runtime.execute(calls)).toEqual([wrong(1), refused, wrong(3), wrong(4)]);
  });

  it('does not begin after a close that came while the personality was read', async () => {
    const runtime = await start({ tools: createFileTools() });
    const path = join(work, 'late.txt');
    const late = runtime.execute(call('write_file', { path, content: 'late' }));
    await runtime.close();
    expect(text(await late)).toBe('the call did not run: the runtime is closed');
    expect(existsSync(path)).toBe(false);
  });

  it('holds a tool back whose exact paths the personality does not cover, and says where', async () => {
    const fixed = defineTool({
      name: 'fixed',
      description: 'Reads one folder.',
      capabilities: { fs_reach: { read: [join(world, 'elsewhere')] } },
      input: z.object({}),
      execute: async () => ok('ran'),
    });
    const runtime = await start({ tools: [fixed, counter] });
    const results = await runtime.execute([
      ...call('counter'),
      ...call('fixed'),
      ...call('counter'),
    ]);
    expect(results.map(({ name }) => name)).toEqual(['counter', 'fixed', 'counter']);
    expect(results[1]?.result).toMatchObject({ ok: false, code: 'not_available' });
    expect(text(results.slice(1))).toContain('config.yaml:3:9: fs_reach.read: fixed declares more');
    expect((await runtime.definitions()).map(({ name }) => name)).toEqual(['counter']);
    expect(await runtime.problems()).toMatchObject([
      { tool: 'fixed', key: 'fs_reach.read', heldBack: true },
    ]);
  });

  it('is refused after close, and close ends what runs', async () => {
    let begin = () => {};
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const hanging: AnyTool = {
      name: 'hangs',
      description: 'Hangs.',
      schema: {},
      capabilities: {},
      execute: () => {
        begin();
        return new Promise(() => {});
      },
    };
    const runtime = await start({ tools: [hanging] });
    const running = runtime.execute(call('hangs'));
    await started;
    await runtime.close();
    expect(text(await running)).toMatch(/^the turn was aborted while this call ran/);
    expect(text(await runtime.execute(call('hangs')))).toBe(
      'the call did not run: the runtime is closed',
    );
    await runtime.close();
  });
});

describe('createToolRuntime without a personality', () => {
  it.each([
    ['nothing', {}],
    ['undefined', { personality: undefined }],
    ['a number', { personality: 7 }],
  ])('given %s, names the option, and the personalities', async (_, options) => {
    const given: ToolRuntimeOptions = Object({ home, cwd: work, ...options });
    await expect(createToolRuntime(given)).rejects.toThrow(
      /^CONFIG_INVALID: personality: .*give the id of a personality.*personalities of this home: coder$/,
    );
  });
});

describe('createToolRuntime given an option with an unknown name', () => {
  it.each(
    inCheck(
      [
        ['personalty', 'did you mean "personality"?'],
        // Ignored, it would open what the host meant to close.
        ['denyPath', 'did you mean "denyPaths"?'],
        ['toolLimits', 'there are home, personality, '],
        ['__proto__x', 'there are home, personality, '],
      ],
      ([name]) => /Path|__/.test(name),
    ),
  )('%s, refuses it and opens nothing', async (name, next) => {
    const given: ToolRuntimeOptions = Object({ home, cwd: work, personality: 'coder', [name]: [] });
    await expect(createToolRuntime(given)).rejects.toThrow(
      `CONFIG_INVALID: createToolRuntime: there is no option "${name}"; ${next}`,
    );
    expect(openBelow(home)).toEqual([]);
  });
});

describe('ToolRuntime.close', () => {
  it('called again waits for the first', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = definePlugin({
      id: 'slow',
      activate(api) {
        api.onUnload(() => released);
      },
    });
    const runtime = await start({ plugins: [slow], tools: [counter] });
    await runtime.execute(call('counter'));
    expect(openBelow(home).length > 0).toBe(process.platform === 'linux');
    const order: string[] = [];
    const first = runtime.close().then(() => order.push('first'));
    const second = runtime.close().then(() => order.push('second', ...openBelow(home)));
    // The second call must not return while the first one still waits for the plugin.
    await new Promise((resolve) => setImmediate(resolve));
    order.push('released');
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(['released', 'first', 'second']);
  });

  it('waits for the process of a call that it aborts', async () => {
    let pid = 0;
    let started = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const stubborn = defineTool({
      name: 'stubborn',
      description: 'Does not end when it is asked to.',
      input: z.object({}),
      capabilities: { process: { allowedBinaries: ['sh'] } },
      execute: async (_args, { scopedProcess }) => {
        const line = 'trap "" TERM; echo $$; while :; do sleep 0.05; done';
        const onOutput = (chunk: string) => {
          pid ||= Number(chunk);
          started();
        };
        return ok(String(await scopedProcess.spawn('sh', ['-c', line], { onOutput })));
      },
    });
    const runtime = await start({ tools: [stubborn] });
    const answer = runtime.execute(call('stubborn'));
    await hasStarted;
    await runtime.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await answer;
  });
});

describe('ToolRuntime.problems', () => {
  it('names servers and plugins that nothing comes from, and holds nothing back', async () => {
    personality(
      'coder',
      'name: C\nmcp_servers: [linear, linaer]\nplugins: [weather, silent, wether]\n',
    );
    const fromServer: AnyTool = { ...counter, name: 'mcp__linear__list' };
    const weather = definePlugin({
      id: 'weather',
      activate: (api) => api.registerTool({ ...counter, name: 'forecast' }),
    });
    const silent = definePlugin({ id: 'silent', activate() {} });
    const runtime = await start({ tools: [fromServer], plugins: [weather] });
    const found = async () =>
      (await runtime.problems()).map(({ key, tool, heldBack }) => [key, tool, heldBack]);
    expect(await found()).toEqual([
      ['mcp_servers', 'linaer', false],
      ['plugins', 'silent', false],
      ['plugins', 'wether', false],
    ]);
    await runtime.plugins.load(silent);
    expect(await found()).toEqual([
      ['mcp_servers', 'linaer', false],
      ['plugins', 'wether', false],
    ]);
  });
});

describe('ToolRuntime.definitions', () => {
  it.each(
    inCheck(
      [
        ['absent', '', ['counter', 'read_file', 'write_file', 'patch_file', 'search_files']],
        ['empty', 'toolset: []\n', []],
        ['tools by name', 'toolset: [counter, read_file]\n', ['counter', 'read_file']],
        [
          'a group label',
          'toolset: [file]\n',
          ['read_file', 'write_file', 'patch_file', 'search_files'],
        ],
        ['an unknown entry', 'toolset: [nope]\n', []],
      ],
      ([what]) => /empty|group|unknown/.test(what),
    ),
  )('follows a toolset that is %s', async (_, yaml, names) => {
    personality('coder', `name: C\n${yaml}fs_reach:\n  read: ["\${CWD}"]\n  write: ["\${CWD}"]\n`);
    const runtime = await start({ tools: [counter, ...createFileTools()] });
    const offered = (await runtime.definitions()).map(({ name }) => name);
    expect(offered.sort()).toEqual([...names].sort());
    const problems = await runtime.problems();
    expect(problems.map(({ tool }) => tool)).toEqual(yaml.includes('nope') ? ['nope'] : []);
  });
});

describe('ToolRuntime.switchPersonality', () => {
  it('changes what the next batch may do, and stays where it was on a mistake', async () => {
    personality('reader', 'name: Reader\ntoolset: [read_file]\n');
    const runtime = await start({ tools: [counter, ...createFileTools()] });
    await runtime.switchPersonality('reader');
    expect(runtime.personalityId).toBe('reader');
    expect(text(await runtime.execute(call('counter')))).toContain('not among the tools');
    await expect(runtime.switchPersonality('nobody')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    await expect(runtime.switchPersonality('../coder')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    expect(runtime.personalityId).toBe('reader');
  });
});

describe('ToolRuntime and the network', () => {
  let server: Server;
  let port: number;
  let requests = 0;
  beforeEach(async () => {
    requests = 0;
    server = createServer((_, response) => {
      requests += 1;
      response.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const fetches = defineTool({
    name: 'fetches',
    description: 'Fetches.',
    capabilities: { network: { allowedHosts: ['*'] } },
    input: z.object({ url: z.string() }),
    execute: async ({ url }, ctx) => ok(await (await ctx.scopedFetch.fetch(url)).text()),
  });

  it.each(
    inCheck(
      [
        ['no network block', () => '', false],
        ['the exact host', () => 'safety:\n  network:\n    allow: ["127.0.0.1"]\n', true],
        [
          'the host and port',
          () => `safety:\n  network:\n    allow: ["127.0.0.1:${port}"]\n`,
          true,
        ],
        ['another port', () => 'safety:\n  network:\n    allow: ["127.0.0.1:1"]\n', false],
        ['a wildcard', () => 'safety:\n  network:\n    allow: ["*"]\n', false],
        [
          'a wildcard with consent to private addresses',
          () => 'safety:\n  network:\n    allow: ["*"]\n    allow_private_urls: true\n',
          true,
        ],
        [
          'a deny rule beside it',
          () => 'safety:\n  network:\n    allow: ["127.0.0.1"]\n    deny: ["127.0.0.1"]\n',
          false,
        ],
      ],
      ([what]) => !/port$|consent/.test(what) || what === 'another port',
    ),
  )('under a personality with %s', async (_, yaml, reached) => {
    personality('coder', `name: C\n${yaml()}`);
    const runtime = await start({ tools: [fetches] });
    const answer = text(
      await runtime.execute(call('fetches', { url: `http://127.0.0.1:${port}/` })),
    );
    if (reached) expect(answer).toBe('hello');
    else expect(answer).toMatch(/^HOST_NOT_ALLOWED: /);
    expect(requests).toBe(reached ? 1 : 0);
  });

  it('writes one audit line for each access, with who, what and why', async () => {
    personality('coder', `name: C\nsafety:\n  network:\n    allow: ["127.0.0.1:${port}"]\n`);
    const runtime = await start({ tools: [fetches], sessionId: 'sess-1' });
    await runtime.execute(call('fetches', { url: `http://127.0.0.1:${port}/a?key=x` }));
    await runtime.execute(call('fetches', { url: 'http://10.0.0.1/' }));
    await runtime.close();
    const lines = readFileSync(join(home, 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const accesses = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind !== 'call');
    expect(accesses).toMatchObject([
      {
        sessionId: 'sess-1',
        personalityId: 'coder',
        toolName: 'fetches',
        decision: 'allowed',
        target: `http://127.0.0.1:${port}/a`,
      },
      { capability: 'network', operation: 'fetch', decision: 'denied' },
    ]);
  });
});

describe('ToolRuntime and its audit log', () => {
  const look = (runtime: ToolRuntime) =>
    runtime.execute(call('read_file', { path: put(join(work, 'seen'), 'text') }));
  const linesOfLog = () =>
    readFileSync(join(home, 'audit', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('gives every event to the log and to each sink of a list, and durations where asked', async () => {
    const beside = [new MemoryAuditSink(), new MemoryAuditSink()];
    const runtime = await start({
      tools: createFileTools(),
      audit: beside,
      auditDurations: true,
    });
    await look(runtime);
    await runtime.close();
    const [first, second] = beside.map(({ events }) => events);
    expect(first?.length).toBeGreaterThan(0);
    expect(second).toEqual(first);
    const lines = linesOfLog();
    expect(lines.filter(({ decision }) => decision !== undefined)).toMatchObject(first ?? []);
    expect(lines.filter(({ durationMs }) => typeof durationMs === 'number').length).toBeGreaterThan(
      0,
    );
    expect(await verifyRuntimeAudit(home)).toMatchObject({ ok: true });
  });

  it('has the lines of each call in the log before its answer is given, also in batches', async () => {
    const runtime = await start({ tools: createFileTools(), auditBatch: true });
    const path = put(join(work, 'seen'), 'text');
    const looks = Array.from({ length: 20 }, async (_, index) => {
      const toolCallId = `c${index}`;
      await runtime.execute([{ toolCallId, name: 'read_file', args: { path } }]);
      const lines = linesOfLog().filter((line) => line.toolCallId === toolCallId);
      return lines.map(({ kind, capability }) => kind ?? capability);
    });
    for (const lines of await Promise.all(looks)) {
      expect(lines).toContain('fs_reach.read');
      expect(lines.at(-1)).toBe('call');
    }
    await runtime.close();
    expect(await verifyRuntimeAudit(home)).toMatchObject({ ok: true });
  });

  it('withholds the answer of a call whose lines can not be written, and writes them later', async () => {
    const runtime = await start({ tools: createFileTools(), auditBatch: true });
    const log = join(home, 'audit', 'audit.jsonl');
    renameSync(log, `${log}.away`);
    const path = put(join(work, 'seen'), 'text');
    const [withheld] = await runtime.execute([
      { toolCallId: 'withheld', name: 'read_file', args: { path } },
    ]);
    expect(withheld?.result).toMatchObject({
      ok: false,
      error: expect.stringContaining('AUDIT_FAILED'),
    });
    expect(JSON.stringify(withheld?.result)).not.toContain('text');
    renameSync(`${log}.away`, log);
    const [answer] = await look(runtime);
    expect(answer?.result).toMatchObject({ ok: true });
    expect(linesOfLog()[0]).toMatchObject({
      toolCallId: 'withheld',
      capability: 'fs_reach.read',
    });
    await runtime.close();
    expect(await verifyRuntimeAudit(home)).toMatchObject({ ok: true });
  });

  it('refuses an access that a sink of the list can not record, and logs it all the same', async () => {
    const full = {
      record() {
        throw new Error('full');
      },
    };
    const runtime = await start({ tools: createFileTools(), audit: [full] });
    const [answer] = await look(runtime);
    expect(answer?.result).toMatchObject({ ok: false });
    expect(JSON.stringify(answer?.result)).not.toContain('text');
    expect(linesOfLog()[0]).toMatchObject({ capability: 'fs_reach.read' });
  });

  it('is not made where one sink stands in its place', async () => {
    const own = new MemoryAuditSink();
    const runtime = await start({ tools: createFileTools(), audit: own });
    await look(runtime);
    expect(own.events.length).toBeGreaterThan(0);
    expect(existsSync(join(home, 'audit'))).toBe(false);
  });

  const logs = () =>
    readdirSync(join(home, 'audit'))
      .filter((name) => name.endsWith('.jsonl'))
      .sort();

  it('writes one of its own while another runtime has the first, and verifyAuditLog takes both', async () => {
    const first = await start({ tools: [counter] });
    const second = await start({ tools: [counter] });
    for (const runtime of [first, second, first]) await runtime.execute(call('counter'));
    expect(logs()).toEqual(['audit-2.jsonl', 'audit.jsonl']);
    await first.close();
    const third = await start({ tools: [counter] });
    await third.execute(call('counter'));
    expect(logs()).toEqual(['audit-2.jsonl', 'audit.jsonl']);
    const report = await verifyRuntimeAudit(home);
    // Two accesses for each call, and the call itself.
    expect(report).toEqual({ ok: true, events: 12, problems: [], cannotTell: [] });
  });

  it('fails closed on a log that was edited while no runtime ran', async () => {
    const runtime = await start({ tools: [counter] });
    await runtime.execute(call('counter'));
    await runtime.close();
    const path = join(home, 'audit', 'audit.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('counter', 'nothing'));
    const failure = await start().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(String(failure)).toContain(path);
    expect(openBelow(home)).toEqual([]);
  });
});

describe('ToolRuntime and child processes', () => {
  it('passes on the usual variables and those that the operator adds, and no credentials', async () => {
    const prints = defineTool({
      name: 'prints',
      description: 'Prints its environment.',
      capabilities: { process: { allowedBinaries: ['env'] } },
      input: z.object({}),
      execute: async (_, ctx) => ok((await ctx.scopedProcess.spawn('env', [])).stdout),
    });
    const runtime = await start({
      tools: [prints],
      env: {
        PATH: process.env.PATH,
        LC_ALL: 'C',
        AWS_SECRET_ACCESS_KEY: 'sk-1',
        ADDED: 'yes',
        OTHER: 'no',
      },
      passEnv: ['ADDED'],
    });
    const names = text(await runtime.execute(call('prints')))
      .split('\n')
      .flatMap((line) => line.split('=', 1))
      .filter((name) => name !== '' && name !== 'ETHOS_CALL_TAG');
    expect(names.sort()).toEqual(['ADDED', 'LC_ALL', 'PATH']);
  });
});

describe('ToolRuntime.reach', () => {
  it('tells what each tool can touch, without running it', async () => {
    personality('coder', 'name: C\ntoolset: [read_file]\nfs_reach:\n  read: ["${CWD}"]\n');
    const runtime = await start({ tools: [counter, ...createFileTools()] });
    const reach = await runtime.reach();
    expect(reach.find(({ tool }) => tool === 'read_file')).toMatchObject({
      offered: true,
      grant: { fs_reach: { read: [work], write: [] } },
    });
    personality(
      'coder',
      'name: C\nsafety:\n  network:\n    allow: ["*.x.com"]\n    deny: ["b.x.com"]\n',
    );
    const fetches: AnyTool = {
      ...counter,
      name: 'fetches',
      capabilities: { network: { allowedHosts: ['*'] } },
    };
    runtime.registry.register(fetches);
    expect((await runtime.reach()).find(({ tool }) => tool === 'fetches')?.grant).toEqual({
      network: { allowedHosts: ['*.x.com'], deny: ['b.x.com'] },
    });
    expect(reach.find(({ tool }) => tool === 'counter')).toMatchObject({
      offered: false,
      grant: { storage: { scope: 'tool-private' } },
    });
  });
});

describe('personalities', () => {
  it('are those of the home whose files are right', async () => {
    personality('reader', 'name: Reader\ndescription: Reads and says what it found.\n');
    personality('broken', 'nonsense: 1\n');
    const runtime = await start();
    expect(await runtime.personalities()).toEqual([
      { id: 'coder' },
      { id: 'reader', description: 'Reads and says what it found.' },
    ]);
  });

  it('tells onError what a tool threw, and why a batch was refused as a whole', async () => {
    const told: CallError[] = [];
    const fault = new TypeError('boom');
    const broken: AnyTool = {
      name: 'broken',
      description: 'Breaks.',
      schema: {},
      capabilities: {},
      execute: () => Promise.reject(fault),
    };
    const runtime = await start({ tools: [broken], onError: (failed) => void told.push(failed) });
    expect(await runtime.execute(call('broken'))).toMatchObject([
      { result: { ok: false, code: 'execution_failed', error: 'boom' } },
    ]);
    const unknown = await runtime.execute(call('broken'), { personality: 'nobody' });
    expect(unknown).toMatchObject([{ result: { code: 'not_available', cause: 'CONFIG_INVALID' } }]);
    expect(told).toMatchObject([
      { toolName: 'broken', toolCallId: 'c', personalityId: 'coder', error: fault },
      { toolName: 'broken', cause: 'CONFIG_INVALID', error: { code: 'CONFIG_INVALID' } },
    ]);
  });
});
