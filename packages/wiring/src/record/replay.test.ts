import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readAuditLogs } from '@ethosagent/audit';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import type { AnyTool, AuditCall, AuditEvent, ToolCapabilities } from '@ethosagent/types';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { loadPersonality } from '../personality-file.js';
import { createToolRuntime } from '../tool-runtime.js';
import { deriveLeastPrivilege } from './derive-least-privilege.js';
import type { LeastPrivilege } from './least-privilege.js';
import { mergeIntoPersonality } from './merge-least-privilege.js';

const CODER = `# What the coder may touch.
name: Coder
# No list: all tools.
fs_reach:
  # Its own folders.
  read: ["\${CWD}", /usr/share]
  write:
    - \${CWD}/out # results
    - \${CWD}/never
safety:
  network:
    allow: ["*.example.com", unused.example.org]
  quotas:
    per_session: { requests: 100 }
`;

let world: string;
let home: string;
let work: string;
let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    response.end(request.headers.authorization ?? `${request.headers.host}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'record-')));
  home = join(world, 'home');
  work = join(world, 'work');
  put(join(home, 'personalities/coder/config.yaml'), CODER);
  put(join(home, 'secrets/providers/api/key'), 'sesame-value');
  fill();
});
afterEach(() => rmSync(world, { recursive: true, force: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}

/** Creates the files as they are before each run. */
function fill(): void {
  rmSync(work, { recursive: true, force: true });
  for (const file of ['docs/a.txt', 'src/a/1.txt', 'src/b/2.txt', 'src/c/3.txt', 'top.txt']) {
    put(join(work, file), file);
  }
}

const pathInput = z.object({ path: z.string() });

/** The tools of the run. `least` replaces their declarations. */
function toolsOf(least?: Map<string, ToolCapabilities>): AnyTool[] {
  const declared = (name: string, own: ToolCapabilities) =>
    least === undefined ? own : (least.get(name) ?? {});
  return [
    {
      ...defineTool({
        name: 'reader',
        description: 'Reads.',
        input: pathInput,
        capabilities: { fs_reach: { read: 'from-personality', write: 'from-personality' } },
        async execute({ path }, ctx) {
          return ok(await ctx.scopedFs.read(join(ctx.workingDir, path)));
        },
      }),
      capabilities: declared('reader', {
        fs_reach: { read: 'from-personality', write: 'from-personality' },
      }),
    },
    {
      ...defineTool({
        name: 'writer',
        description: 'Writes.',
        input: pathInput,
        capabilities: { fs_reach: { write: 'from-personality' } },
        async execute({ path }, ctx) {
          await ctx.scopedFs.write(join(ctx.workingDir, path), 'new');
          return ok('written');
        },
      }),
      capabilities: declared('writer', { fs_reach: { write: 'from-personality' } }),
    },
    {
      ...defineTool({
        name: 'fetcher',
        description: 'Fetches.',
        input: z.object({ url: z.string(), withKey: z.boolean() }),
        capabilities: { network: { allowedHosts: ['*'] }, secrets: ['providers/api/key'] },
        async execute({ url, withKey }, ctx) {
          const headers = withKey
            ? { authorization: await ctx.secretsResolver.get('providers/api/key') }
            : {};
          const response = await ctx.scopedFetch.fetch(url, { headers });
          return ok(`${response.status}`);
        },
      }),
      capabilities: declared('fetcher', {
        network: { allowedHosts: ['*.example.com', 'unused.example.org'] },
        secrets: ['providers/api/*', 'providers/other/key'],
      }),
    },
    {
      ...defineTool({
        name: 'counter',
        description: 'Counts.',
        input: z.object({}),
        capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
        async execute(_, ctx) {
          await ctx.kvStore.set('n', '1');
          return ok(`${await ctx.kvStore.get('n')}`);
        },
      }),
      capabilities: declared('counter', { storage: { scope: 'tool-private', kind: 'kv' } }),
    },
    {
      ...defineTool({
        name: 'runner',
        description: 'Runs.',
        input: z.object({}),
        capabilities: { process: { allowedBinaries: ['node'] } },
        async execute(_, ctx) {
          const { exitCode } = await ctx.scopedProcess.spawn('node', ['-e', '0']);
          return ok(`${exitCode}`);
        },
      }),
      capabilities: declared('runner', { process: { allowedBinaries: ['node', 'git'] } }),
    },
    {
      ...defineTool({
        name: 'mover',
        description: 'Makes, moves and removes.',
        input: z.object({ make: z.string(), from: z.string(), to: z.string(), gone: z.string() }),
        capabilities: { fs_reach: { write: 'from-personality' } },
        async execute({ make, from, to, gone }, ctx) {
          const at = (path: string) => join(ctx.workingDir, path);
          await ctx.scopedFs.mkdir(at(make));
          await ctx.scopedFs.write(at(`${gone}/x.txt`), 'x');
          await ctx.scopedFs.rename(at(from), at(to));
          await ctx.scopedFs.remove(at(gone), { recursive: true });
          return ok('moved');
        },
      }),
      capabilities: declared('mover', { fs_reach: { write: 'from-personality' } }),
    },
    {
      ...defineTool({
        name: 'idle',
        description: 'Is never called.',
        input: z.object({}),
        capabilities: {},
        async execute() {
          return ok('');
        },
      }),
      capabilities: declared('idle', { network: { allowedHosts: ['idle.example.com'] } }),
    },
  ];
}

interface Call {
  name: string;
  args: Record<string, unknown>;
}

const CALLS: readonly Call[] = [
  { name: 'reader', args: { path: 'docs/a.txt' } },
  { name: 'reader', args: { path: 'src/a/1.txt' } },
  { name: 'reader', args: { path: 'src/b/2.txt' } },
  { name: 'reader', args: { path: 'src/c/3.txt' } },
  { name: 'reader', args: { path: 'top.txt' } },
  { name: 'writer', args: { path: 'out/deep/new.txt' } },
  { name: 'fetcher', args: { url: 'https://api.example.com/v1?key=1', withKey: true } },
  { name: 'fetcher', args: { url: 'https://cdn.example.com:8443/x', withKey: false } },
  { name: 'counter', args: {} },
  { name: 'runner', args: {} },
  // These are refused both before and after.
  { name: 'reader', args: { path: '../../../etc/passwd' } },
  { name: 'writer', args: { path: 'docs/a.txt' } },
  { name: 'fetcher', args: { url: 'https://evil.example.net/', withKey: false } },
];

/** Runs calls as an agent would. Returns how each ended. */
async function runAll(
  calls: readonly Call[],
  {
    least,
    personality = 'coder',
  }: { least?: Map<string, ToolCapabilities>; personality?: string } = {},
): Promise<string[]> {
  const runtime = await createToolRuntime({
    home,
    cwd: work,
    personality,
    tools: toolsOf(least),
    lookup: async () => [{ address: '93.184.216.34', family: 4 }],
    // The names are public, but the server of this test answers.
    fetch: (url, init) => {
      const { pathname } = new URL(String(url));
      const headers = new Headers(init?.headers);
      return fetch(`http://127.0.0.1:${port}${pathname}`, {
        headers,
        signal: init?.signal ?? null,
      });
    },
  });
  try {
    const outcomes: string[] = [];
    for (const [index, { name, args }] of calls.entries()) {
      const [answer] = await runtime.execute([{ toolCallId: `c${index}`, name, args }], {
        protections: 'none',
      });
      if (answer === undefined) throw new Error('no answer');
      const { result } = answer;
      outcomes.push(result.ok ? `ok ${result.value}` : `${result.code} ${result.cause}`);
    }
    return outcomes;
  } finally {
    await runtime.close();
  }
}

async function logged(): Promise<(AuditEvent | AuditCall)[]> {
  const events: (AuditEvent | AuditCall)[] = [];
  for await (const { event } of readAuditLogs(join(home, 'audit'))) events.push(event);
  return events;
}

async function derive(id = 'coder'): Promise<{ least: LeastPrivilege; text: string }> {
  const least = deriveLeastPrivilege(await logged(), {
    cwd: work,
    home,
    userHome: '/nowhere',
    personality: await loadPersonality({ home, cwd: work, id }),
    tools: toolsOf().map(({ name, capabilities = {} }) => ({ name, capabilities, offered: true })),
    isFolder: () => false,
    passesLink: () => false,
  });
  const file = join(home, 'personalities', id, 'config.yaml');
  return {
    least,
    text: mergeIntoPersonality(readFileSync(file, 'utf8'), least, { home, cwd: work }),
  };
}

function write(text: string, id = 'coder'): void {
  put(join(home, 'personalities', id, 'config.yaml'), text);
}

function declarationsOf(least: LeastPrivilege): Map<string, ToolCapabilities> {
  return new Map(least.declarations.map(({ tool, capabilities }) => [tool, capabilities]));
}

const LISTS = [
  ['toolset'],
  ['fs_reach', 'read'],
  ['fs_reach', 'write'],
  ['safety', 'network', 'allow'],
];

/** For each granting entry, the file without it. */
function withoutEach(text: string, lists = LISTS): [entry: string, text: string][] {
  return lists.flatMap((path) => {
    const found: unknown = parseDocument(text).toJS();
    const list: unknown = path.reduce<unknown>((value, key) => Object(value)[key], found);
    if (!Array.isArray(list)) throw new Error(`no list at ${path.join('.')}`);
    return list.map((entry, index): [string, string] => {
      const document = parseDocument(text);
      document.deleteIn([...path, index]);
      return [`${path.join('.')}: ${entry}`, document.toString()];
    });
  });
}

/**
 * In a check, only the first of the entries that differ just in their value, for each list and each
 * tool.
 */
function firstOfEachKind<T>(rows: readonly [name: string, T][]): [name: string, T][] {
  const kindOf = (name: string) => name.slice(0, name.indexOf(':'));
  const firsts = new Map([...rows].reverse().map(([name]) => [kindOf(name), name]));
  return inCheck(rows, ([name]) => firsts.get(kindOf(name)) === name);
}

/** For each part of the declarations, the declarations without it. */
function withoutEachPart(
  all: Map<string, ToolCapabilities>,
): [part: string, Map<string, ToolCapabilities>][] {
  return [...all].flatMap(([tool, capabilities]) =>
    partsOf(capabilities).map(([part, rest]): [string, Map<string, ToolCapabilities>] => [
      `${tool}: ${part}`,
      new Map([...all, [tool, rest]]),
    ]),
  );
}

function partsOf(capabilities: ToolCapabilities): [part: string, ToolCapabilities][] {
  const { network, secrets, fs_reach, storage, process: processes } = capabilities;
  const others = <T>(list: readonly T[], one: T) => list.filter((each) => each !== one);
  const { storage: _, ...withoutStorage } = capabilities;
  return [
    ...(network?.allowedHosts ?? []).map((host): [string, ToolCapabilities] => [
      host,
      { ...capabilities, network: { allowedHosts: others(network?.allowedHosts ?? [], host) } },
    ]),
    ...(secrets ?? []).map((secret): [string, ToolCapabilities] => [
      String(secret),
      { ...capabilities, secrets: others(secrets ?? [], secret) },
    ]),
    ...(['read', 'write'] as const)
      .filter((kind) => fs_reach?.[kind] !== undefined)
      .map((kind): [string, ToolCapabilities] => {
        const { [kind]: __, ...rest } = fs_reach ?? {};
        return [kind, { ...capabilities, fs_reach: rest }];
      }),
    ...(storage === undefined ? [] : [['storage', withoutStorage] satisfies [string, unknown]]),
    ...(processes?.allowedBinaries ?? []).map((binary): [string, ToolCapabilities] => [
      binary,
      {
        ...capabilities,
        process: { allowedBinaries: others(processes?.allowedBinaries ?? [], binary) },
      },
    ]),
  ];
}

describe('a recorded run', () => {
  it('passes under what was derived, and fails without any one of its lines', async () => {
    const before = await runAll(CALLS);
    expect(before.filter((outcome) => outcome.startsWith('ok'))).toHaveLength(10);
    const { least, text } = await derive();
    expect(least.read.map((entry) => entry.text)).toEqual([
      '${CWD}/docs',
      '${CWD}/src',
      '${CWD}/top.txt',
    ]);
    expect(least.write.map((entry) => entry.text)).toEqual(['${CWD}/out/deep']);
    expect(least.allow.map((entry) => entry.text)).toEqual([
      'api.example.com',
      'cdn.example.com:8443',
    ]);
    fill();
    write(text);
    expect(await runAll(CALLS)).toEqual(before);
    const lines = withoutEach(text);
    expect(lines.length).toBe(5 + 3 + 1 + 2);
    for (const [entry, without] of firstOfEachKind(lines)) {
      fill();
      write(without);
      expect(await runAll(CALLS), entry).not.toEqual(before);
    }
  }, 120_000);

  it.runIf(isLongRun())(
    'passes under the derived declarations, and fails without any one of their parts',
    async () => {
      const before = await runAll(CALLS);
      const { least, text } = await derive();
      const declarations = declarationsOf(least);
      expect(Object.fromEntries(declarations)).toEqual({
        counter: { storage: { scope: 'tool-private', kind: 'kv' } },
        fetcher: {
          network: { allowedHosts: ['api.example.com', 'cdn.example.com:8443'] },
          secrets: ['providers/api/key'],
        },
        reader: { fs_reach: { read: 'from-personality' } },
        runner: { process: { allowedBinaries: ['node'] } },
        writer: { fs_reach: { write: 'from-personality' } },
      });
      write(text);
      fill();
      expect(await runAll(CALLS, { least: declarations })).toEqual(before);
      const parts = withoutEachPart(declarations);
      expect(parts).toHaveLength(7);
      for (const [part, without] of firstOfEachKind(parts)) {
        fill();
        expect(await runAll(CALLS, { least: without }), part).not.toEqual(before);
      }
    },
    120_000,
  );

  it.runIf(isLongRun())(
    'passes where it made, moved and removed folders, and fails without any one of its lines',
    async () => {
      write(CODER.replace('${CWD}/never', '${CWD}'));
      const calls = [
        { name: 'mover', args: { make: 'm/k', from: 'src/a', to: 'dst/a', gone: 'tmp/deep/gone' } },
      ];
      const before = await runAll(calls);
      expect(before).toEqual(['ok moved']);
      const { text } = await derive();
      write(text);
      fill();
      expect(await runAll(calls)).toEqual(before);
      const lines = withoutEach(
        text,
        LISTS.filter((path) => !path.includes('read')),
      );
      expect(lines.map(([entry]) => entry)).toEqual([
        'toolset: mover',
        'fs_reach.write: ${CWD}/dst',
        'fs_reach.write: ${CWD}/m/k',
        'fs_reach.write: ${CWD}/src',
        'fs_reach.write: ${CWD}/tmp/deep',
      ]);
      for (const [entry, without] of firstOfEachKind(lines)) {
        write(without);
        fill();
        expect(await runAll(calls), entry).not.toEqual(before);
      }
    },
    120_000,
  );

  it('lists what was refused and grants none of it', async () => {
    await runAll(CALLS);
    const { least, text } = await derive();
    expect(least.denied.map(({ tool, capability }) => `${tool} ${capability}`)).toEqual([
      'reader fs_reach.read',
      'writer fs_reach.write',
      'fetcher network',
    ]);
    expect(text).not.toMatch(/evil|passwd/);
    write(text);
    fill();
    const again = await runAll(CALLS.slice(10));
    expect(again.every((outcome) => !outcome.startsWith('ok'))).toBe(true);
  });

  it('lists what was declared or allowed and never used', async () => {
    await runAll(CALLS);
    const { least } = await derive();
    expect(least.unused).toEqual([
      'tool reader: fs_reach.write',
      'tool fetcher: host unused.example.org',
      'tool fetcher: secret providers/other/key',
      'tool runner: program git',
      'tool mover: never called',
      'tool idle: never called',
      'fs_reach.read: /usr/share',
      `fs_reach.write: ${join(work, 'never')}`,
      'safety.network.allow: unused.example.org',
    ]);
  });

  it.runIf(isLongRun())('keeps the comments and everything else of the file', async () => {
    await runAll(CALLS);
    const { text } = await derive();
    for (const kept of ['# What the coder may touch.', '# Its own folders.', 'requests: 100']) {
      expect(text).toContain(kept);
    }
    expect(text).toContain('- ${CWD}/src # 3 uses; 3 or more folders in it were used');
  });

  it('changes nothing when the same run is recorded again', async () => {
    await runAll(CALLS);
    const { text } = await derive();
    write(text);
    expect((await derive()).text).toBe(text);
  });

  it('keeps two personalities of one run apart', async () => {
    write(CODER.replace('name: Coder', 'name: Clerk'), 'clerk');
    await runAll([{ name: 'reader', args: { path: 'docs/a.txt' } }]);
    await runAll([{ name: 'writer', args: { path: 'out/b.txt' } }], { personality: 'clerk' });
    const coder = (await derive()).least;
    const clerk = (await derive('clerk')).least;
    expect([coder.toolset, clerk.toolset].map((list) => list.map(({ text }) => text))).toEqual([
      ['reader'],
      ['writer'],
    ]);
    expect([coder.write, clerk.read]).toEqual([[], []]);
  });

  it('gives to both of two personalities that met what ran under both', async () => {
    write(CODER.replace('name: Coder', 'name: Clerk'), 'clerk');
    await runAll([{ name: 'reader', args: { path: 'docs/a.txt' } }], { personality: 'coder' });
    const events = (await logged()).map((event) => ({ ...event, personalityId: 'coder/clerk' }));
    const personality = await loadPersonality({ home, cwd: work, id: 'clerk' });
    const least = deriveLeastPrivilege(events, {
      cwd: work,
      home,
      userHome: '/nowhere',
      personality,
      tools: [],
      isFolder: () => false,
      passesLink: () => false,
    });
    expect(least.read.map(({ text }) => text)).toEqual(['${CWD}/docs']);
  });
});
