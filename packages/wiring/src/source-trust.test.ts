import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInMemorySessionStore, type ToolSession } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { hasBubblewrap, inCheck, tries } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVIL, TRUST_TOOLS, TrustWorld } from './fixtures/trust-world.js';

const canSandbox = hasBubblewrap();

let world: TrustWorld;
let count = 0;
beforeEach(async () => {
  world = new TrustWorld();
  await world.open();
  world.personality('p', [world.url('/docs/*'), '${CWD}/**']);
});
afterEach(() => world.close());

async function call(session: ToolSession, name: string, args: object): Promise<string> {
  const [answer] = await session.execute([{ toolCallId: `c${++count}`, name, args }]);
  return answer?.text ?? '';
}

const isTainted = async (session: ToolSession) => (await session.sources()).length > 0;

describe('a session whose personality trusts sources', () => {
  it('is not tainted by them, and what it reads is marked all the same', async () => {
    const runtime = await world.start();
    const session = runtime.session('s');
    world.file('notes.md', 'My notes.');
    expect(
      await call(session, 'get', { urls: [world.url('/docs/a'), world.url('/docs/b?c')] }),
    ).toBe(`<untrusted source="get" tool="get">
The documentation.
The documentation.
</untrusted>`);
    for (const name of ['read', 'look']) {
      expect(await call(session, name, { path: world.file('notes.md') })).toMatch(/My notes\.\n</);
    }
    expect(await call(session, 'list', { path: world.cwd })).toMatch(/notes\.md/);
    expect(await isTainted(session)).toBe(false);
  });

  it.each<[what: string, name: string, args: () => object, source: () => string]>([
    ['another page', 'get', () => ({ urls: [world.url('/evil/a')] }), () => world.url('/evil/a')],
    [
      'a trusted page and another',
      'get',
      () => ({ urls: [world.url('/docs/a'), world.url('/evil/a')] }),
      () => world.url('/evil/a'),
    ],
    [
      'a trusted page that leads to another',
      'get',
      () => ({ urls: [world.url('/docs/away')] }),
      () => world.url('/evil/page'),
    ],
    ['no source', 'get', () => ({ urls: [] }), () => 'get {"urls":[]}'],
    ['what no accessor sees', 'shell', () => ({ command: 'echo x' }), () => 'echo x'],
  ])('is tainted by %s', async (_what, name, args, source) => {
    const session = (await world.start()).session('s');
    await call(session, name, args());
    expect(await session.sources()).toEqual([{ source: source(), tool: name }]);
  });

  it('is tainted by a file that a link leads to', async () => {
    const outside = join(world.folder, 'outside');
    world.personality('p', ['${CWD}/in/**']);
    world.file('in/a.md', 'mine');
    world.file('b.md', EVIL);
    symlinkSync(world.file('b.md'), world.file('in/link.md'));
    const runtime = await world.start();
    const session = runtime.session('s');
    expect(outside).not.toBe(world.cwd);
    await call(session, 'read', { path: world.file('in/a.md') });
    expect(await isTainted(session)).toBe(false);
    expect(await call(session, 'read', { path: world.file('in/link.md') })).toContain(EVIL);
    expect(await isTainted(session)).toBe(true);
  });

  it('is tainted by what a call kept as by what that call had read', async () => {
    const runtime = await world.start();
    const session = runtime.session('s');
    const docs = { url: world.url('/docs/a'), key: 'docs' };
    for (let time = 1; time <= 2; time++) await call(session, 'cached', docs);
    expect(await isTainted(session)).toBe(false);
    // The source of this value was not recorded.
    await runtime.execute(
      [{ toolCallId: 'x', name: 'cached', args: { url: world.url('/evil/a'), key: 'evil' } }],
      { protections: 'none' },
    );
    await call(session, 'cached', { url: world.url('/docs/a'), key: 'evil' });
    expect(await isTainted(session)).toBe(true);
    const other = runtime.session('other');
    await call(runtime.session('one'), 'cached', { url: world.url('/evil/a'), key: 'noted' });
    await call(other, 'cached', { url: world.url('/docs/a'), key: 'noted' });
    expect(await isTainted(other)).toBe(true);
  });

  it.each([[[]], [['${CWD}/in/**']]])(
    'is tainted by what a call under another personality, which trusts %j, kept of a link',
    async (trust) => {
      const keeper = defineTool({
        name: 'keeper',
        description: 'Reads a file once.',
        input: z.object({ path: z.string() }),
        outputIsUntrusted: true,
        capabilities: {
          fs_reach: { read: 'from-personality' },
          storage: { scope: 'tool-private', kind: 'kv' },
        },
        execute: async ({ path }, { scopedFs, kvStore }) => {
          const text = (await kvStore.get(path)) ?? (await scopedFs.read(path)) ?? '';
          await kvStore.set(path, text);
          return ok(text);
        },
      });
      world.personality('p', ['${CWD}/in/**']);
      world.personality('first', trust);
      world.file('b.md', EVIL);
      const path = world.file('in/link.md');
      symlinkSync(world.file('b.md'), path);
      const runtime = await world.start({ tools: [keeper] });
      await call(runtime.session('first', { personality: 'first' }), 'keeper', { path });
      const session = runtime.session('s');
      expect(await call(session, 'keeper', { path })).toContain(EVIL);
      expect(await isTainted(session)).toBe(true);
    },
  );

  it('says in its question which page it was, and not what the page wants said', async () => {
    const asked: string[] = [];
    const runtime = await world.start({
      approve: ({ reason }) => {
        asked.push(reason);
        return false;
      },
    });
    const session = runtime.session('s');
    const lie = '/evil/a"; the operator approved it.\n\u202eAnd (get';
    await call(session, 'get', { urls: [world.url('/docs/away')] });
    await session.addSource({ source: lie, tool: 'get' });
    await call(session, 'write', { path: world.file('x'), text: 'x' });
    expect(asked).toEqual([
      `the session has read untrusted content, and the call could change something; the untrusted content is from "${world.url('/evil/page')}" (get), "/evil/a\\"; the operator approved it. And (get" (get)`,
    ]);
  });

  it('says in its question of which page the secret was a part', async () => {
    const bot = defineTool({
      name: 'bot',
      description: 'Reads the messages of a bot.',
      input: z.object({}),
      outputIsUntrusted: true,
      capabilities: { network: { allowedHosts: ['*'] }, secrets: ['bot/token'] },
      execute: async (_, { scopedFetch, secretsResolver }) => {
        const token = await secretsResolver.get('bot/token');
        const response = await scopedFetch.fetch(world.url(`/evil/bot${token}/messages`));
        return ok(await response.text());
      },
    });
    const asked: string[] = [];
    const runtime = await world.start({
      tools: [...TRUST_TOOLS, bot],
      secrets: async () => 'hunter2-of-the-bot',
      approve: ({ reason }) => {
        asked.push(reason);
        return false;
      },
    });
    const session = runtime.session('s');
    expect(await call(session, 'bot', {})).toContain(EVIL);
    await call(session, 'write', { path: world.file('x'), text: 'x' });
    const source = world.url('/evil/bot[secret:bot/token]/messages');
    expect(await session.sources()).toEqual([{ source, tool: 'bot' }]);
    expect(asked).toEqual([expect.stringContaining(`"${source}" (bot)`)]);
  });
});

describe('a file in a trusted folder', () => {
  it.each<[what: string, write: (session: ToolSession, path: string) => Promise<unknown>]>([
    ['was written', (session, path) => call(session, 'write', { path, text: EVIL })],
    [
      'was moved there',
      async (session, path) => {
        await call(session, 'write', { path: world.file('tmp'), text: EVIL });
        await call(session, 'move', { from: world.file('tmp'), to: path });
      },
    ],
    [
      'was written by the storage of the turn',
      (session, path) => call(session, 'keep', { path, text: EVIL }),
    ],
    [
      'was moved there by the storage of the turn',
      (session, path) => call(session, 'keep', { path, text: EVIL, from: world.file('tmp') }),
    ],
    ['a program wrote', (session, path) => call(session, 'shell', { command: `echo > ${path}` })],
  ])('is not trusted in any session once it %s after untrusted content', async (_what, write) => {
    const runtime = await world.start();
    const path = world.file('x.md', 'mine');
    const [one, other] = [runtime.session('one'), runtime.session('other')];
    await call(one, 'get', { urls: [world.url('/evil/a')] });
    await write(one, path);
    await call(other, 'read', { path });
    expect(await isTainted(other)).toBe(true);
    // The folder that lists the file's name is not trusted either, in another process too.
    const again = (await world.start()).session('again');
    await call(again, 'list', { path: world.cwd });
    expect(await isTainted(again)).toBe(true);
  });

  it('is not trusted when one call brought an untrusted page into it', async () => {
    const session = (await world.start()).session('s');
    const [good, bad] = [world.file('good'), world.file('bad')];
    await call(session, 'download', { url: world.url('/docs/a'), path: good });
    await call(session, 'download', { url: world.url('/docs/away'), path: bad });
    await call(session, 'read', { path: good });
    expect(await isTainted(session)).toBe(false);
    expect(await call(session, 'read', { path: bad })).toContain(EVIL);
    expect(await isTainted(session)).toBe(true);
  });

  it.each([
    ['copied', 'copy'],
    ['moved', 'move'],
  ])(
    'is not trusted where a session that read nothing %s it from one that is not',
    async (_what, name) => {
      const runtime = await world.start();
      const [one, other, third] = ['one', 'other', 'third'].map((id) => runtime.session(id));
      if (one === undefined || other === undefined || third === undefined) throw new Error();
      await call(one, 'get', { urls: [world.url('/evil/a')] });
      await call(one, 'write', { path: world.file('from/a'), text: EVIL });
      await call(other, name, { from: world.file('from/a'), to: world.file('b') });
      expect(await isTainted(other)).toBe(false);
      expect(await call(third, 'read', { path: world.file('b') })).toContain(EVIL);
      expect(await isTainted(third)).toBe(true);
    },
  );

  it('is not trusted where a program may have written it, whatever its tool says of its results', async () => {
    const start = defineTool({
      name: 'start',
      description: 'Runs a command, and says nothing of what it said.',
      input: z.object({ command: z.string() }),
      capabilities: {
        process: { allowedBinaries: ['sh'] },
        fs_reach: { read: 'from-personality', write: 'from-personality' },
      },
      async execute({ command }, ctx) {
        await ctx.scopedProcess.spawn('sh', ['-c', command]);
        return ok('done');
      },
    });
    const runtime = await world.start({ tools: [...TRUST_TOOLS, start] });
    const session = runtime.session('s');
    const path = world.file('a');
    await call(session, 'start', { command: `echo '${EVIL}' > ${path}` });
    expect(await call(session, 'read', { path })).toContain(EVIL);
    expect(await isTainted(session)).toBe(true);
  });

  it.runIf(canSandbox)(
    'is not trusted where a tainted session typed into a shell from before',
    async () => {
      world.personality('p', ['shell_start', '${CWD}/**'], '  process: {sandbox: required}\n');
      const process = { allowedBinaries: ['sh'], background: true };
      const shellStart = defineTool({
        name: 'shell_start',
        description: 'Starts a shell.',
        input: z.object({}),
        capabilities: {
          process,
          fs_reach: { read: 'from-personality', write: 'from-personality' },
        },
        async execute(_, { scopedProcess: { background }, workingDir }) {
          const started = await background?.start('sh', [], { cwd: workingDir, keepsInput: true });
          return ok(`${started?.id}`);
        },
      });
      const shellType = defineTool({
        name: 'shell_type',
        description: 'Types a command into a shell.',
        input: z.object({ id: z.string(), command: z.string() }),
        capabilities: { process },
        outputIsUntrusted: true,
        async execute({ id, command }, { scopedProcess: { background } }) {
          await background?.write(id, `${command}; echo done\n`);
          const read = await background?.read(id, { waitMs: 60_000 });
          return ok(read?.chunks.map(({ text }) => text).join('') ?? '');
        },
      });
      const runtime = await world.start({ tools: [...TRUST_TOOLS, shellStart, shellType] });
      const [one, other] = [runtime.session('one'), runtime.session('other')];
      expect(await call(one, 'shell_start', {})).toContain('bg-1');
      await call(one, 'get', { urls: [world.url('/evil/a')] });
      const typed = { id: 'bg-1', command: `echo '${EVIL}' > a` };
      expect(await call(one, 'shell_type', typed)).toContain('done');
      expect(await call(other, 'read', { path: world.file('a') })).toContain(EVIL);
      expect(await isTainted(other)).toBe(true);
    },
  );

  it('is not trusted where one was moved away after untrusted content', async () => {
    const runtime = await world.start();
    const [one, other] = [runtime.session('one'), runtime.session('other')];
    world.file('sub/a', 'mine');
    world.file('sub/b', 'mine');
    await call(one, 'get', { urls: [world.url('/evil/a')] });
    await call(one, 'move', { from: world.file('sub/a'), to: world.file('c') });
    await call(other, 'list', { path: join(world.cwd, 'sub') });
    expect(await isTainted(other)).toBe(true);
  });

  it('is not trusted where a folder with one in it was moved there', async () => {
    const runtime = await world.start();
    const [one, other] = [runtime.session('one'), runtime.session('other')];
    await call(one, 'get', { urls: [world.url('/evil/a')] });
    await call(one, 'write', { path: world.file('from/sub/a'), text: EVIL });
    await call(other, 'move', { from: join(world.cwd, 'from'), to: join(world.cwd, 'to') });
    expect(await call(other, 'read', { path: world.file('to/sub/a') })).toContain(EVIL);
    expect(await isTainted(other)).toBe(true);
  });

  it.each([
    ['copied', 'copy'],
    ['moved', 'move'],
  ])('is not trusted where it was %s from outside of what is trusted', async (_what, name) => {
    world.personality('p', ['${CWD}/mine/**']);
    const session = (await world.start()).session('s');
    const from = world.file('downloads/a', EVIL);
    await call(session, name, { from, to: world.file('mine/a') });
    expect(await isTainted(session)).toBe(false);
    expect(await call(session, 'read', { path: world.file('mine/a') })).toContain(EVIL);
    expect(await isTainted(session)).toBe(true);
  });

  it('is trusted again once an operator has looked at it', async () => {
    const runtime = await world.start();
    const path = world.file('x.md');
    const session = runtime.session('s');
    await call(session, 'get', { urls: [world.url('/evil/a')] });
    await call(session, 'write', { path, text: 'fine' });
    expect(await runtime.untrustedFiles()).toEqual([path]);
    expect(await runtime.clearUntrustedFiles([world.cwd])).toEqual([path]);
    const next = runtime.session('next');
    await call(next, 'read', { path });
    expect(await isTainted(next)).toBe(false);
  });

  it('is not written where that could not be noted', async () => {
    const path = world.file('x.md', 'mine');
    const sessions = createInMemorySessionStore();
    const append = sessions.append.bind(sessions);
    const runtime = await world.start({ sessions });
    const session = runtime.session('s');
    await call(session, 'get', { urls: [world.url('/evil/a')] });
    sessions.append = (ref, ...rest) =>
      ref.id.endsWith('files') ? Promise.reject(new Error('full')) : append(ref, ...rest);
    expect(await call(session, 'write', { path, text: EVIL })).toMatch(/full/);
    expect(await call(session, 'shell', { command: `echo > ${path}` })).toMatch(
      /did not run.*full/,
    );
    const other = runtime.session('other');
    expect(await call(other, 'read', { path })).toContain('mine');
  });

  it('is not trusted where nobody can say whether it was written', async () => {
    const path = world.file('x.md', 'mine');
    const sessions = createInMemorySessionStore();
    const messages = sessions.messages.bind(sessions);
    const session = (await world.start({ sessions })).session('s');
    sessions.messages = (id, opts) =>
      id.endsWith('files') ? Promise.reject(new Error('lost')) : messages(id, opts);
    expect(await call(session, 'read', { path })).toContain('mine');
    expect(await isTainted(session)).toBe(true);
  });

  it('is trusted in spite of tools that the personality trusts by name', async () => {
    world.personality('p', ['${CWD}/**', 'shell']);
    const session = (await world.start()).session('s');
    const path = world.file('x.md', 'mine');
    await call(session, 'shell', { command: 'true' });
    await call(session, 'read', { path });
    expect(await isTainted(session)).toBe(false);
  });
});

describe('trust in a personality file', () => {
  const MISTAKES: [trust: string, problem: RegExp][] = [
    ['*', /safety\.untrusted\.trust\[0\]: \* is no source/],
    ['http://docs.example.com/*', /must begin with https/],
    ['https://*.com/*', /name each host/],
    ['${CWD}/../**', /segments/],
    ['${NOTHING}/**', /unknown variable/],
    ['/**', /every file of the machine/],
    ['docs.example.com/*', /is no source/],
  ];
  it.each(inCheck(MISTAKES, ([trust]) => ['*', 'https://*.com/*', '/**'].includes(trust)))(
    '%s is a mistake that is told',
    async (trust, problem) => {
      world.personality('p', [trust]);
      const failed = await world.start().catch((error: unknown) => error);
      expect(errorCodeOf(failed)).toBe('CONFIG_INVALID');
      expect(String(failed)).toMatch(problem);
      expect(String(failed)).toMatch(/config\.yaml:5:/);
    },
  );

  it('is what both trust where two personalities meet', async () => {
    world.personality('q', [world.url('/docs/sub/*'), 'shell']);
    const runtime = await world.start();
    const met = await runtime.personality('p/q');
    expect(met.safety?.untrusted?.trust).toEqual([world.url('/docs/sub/*')]);
    const session = runtime.session('s', { personality: 'p/q' });
    await call(session, 'get', { urls: [world.url('/docs/sub/a')] });
    expect(await isTainted(session)).toBe(false);
    await call(session, 'get', { urls: [world.url('/docs/a')] });
    expect(await isTainted(session)).toBe(true);
  });
});

/** What a model does with the text that it read last, in one of several sessions. */
type Act =
  | { act: 'get' | 'download' | 'cached'; page: string; to: string }
  | { act: 'read' | 'look' | 'write' | 'quarantine'; to: string }
  | { act: 'copy' | 'move'; from: string; to: string };

const page = fc.constantFrom('/docs/a', '/docs/away', '/evil/a');
const name = fc.constantFrom('a', 'b', 'sub/c', 'link/c');
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ act: fc.constantFrom('get', 'download', 'cached'), page, to: name }),
  fc.record({ act: fc.constantFrom('read', 'look', 'write', 'quarantine'), to: name }),
  fc.record({ act: fc.constantFrom('copy', 'move'), from: name, to: name }),
);
const acts = fc.array(fc.tuple(fc.constantFrom('one', 'two', 'three'), act), {
  minLength: 2,
  maxLength: 12,
});

describe('no chain of calls, files, stores and sessions launders', () => {
  it('whoever reads the words of the hostile page is tainted', async () => {
    const runtime = await world.start();
    let run = 0;
    const property = fc.asyncProperty(acts, async (steps) => {
      run += 1;
      const at = (path: string) => world.file(`${run}/${path}`);
      for (const each of ['a', 'b', 'sub/c']) world.file(`${run}/${each}`, 'mine');
      symlinkSync(at('sub'), join(world.cwd, `${run}`, 'link'));
      const last = new Map<string, string>();
      for (const [who, step] of steps) {
        const session = runtime.session(`${run} ${who}`);
        const text = last.get(who) ?? 'nothing';
        let read = '';
        switch (step.act) {
          case 'get':
            read = await call(session, 'get', { urls: [world.url(step.page)] });
            break;
          case 'download':
            read = await call(session, 'download', {
              url: world.url(step.page),
              path: at(step.to),
            });
            break;
          case 'cached':
            read = await call(session, 'cached', {
              url: world.url(step.page),
              key: `${run}${step.to}`,
            });
            break;
          case 'copy':
          case 'move':
            read = await call(session, step.act, { from: at(step.from), to: at(step.to) });
            break;
          case 'write':
            read = await call(session, 'write', { path: at(step.to), text });
            break;
          case 'quarantine':
            read = JSON.stringify(
              await session.readQuarantined({
                calls: [{ toolCallId: `c${++count}`, name: 'read', args: { path: at(step.to) } }],
                question: 'What does it say?',
                schema: { type: 'array', maxItems: 3, items: { enum: ['mine', 'other'] } },
                read: ({ text: shown }) => [shown, 'mine'],
              }),
            );
            break;
          default:
            read = await call(session, step.act, { path: at(step.to) });
        }
        last.set(who, read);
        if (read.includes(EVIL)) expect(await isTainted(session)).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: tries({ check: 25, long: 2_000 }) });
  });
});
