import {
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
import { type AnyTool, errorCodeOf, type ToolCapabilities } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime, ToolRuntimeOptions } from '../runtime-api.js';
import { createToolRuntime } from '../tool-runtime.js';
import { writeLockText } from './lock-file.js';
import { formatReachLock, parseReachLock } from './lock-text.js';

let world: string;
let home: string;
let cwd: string;
const open: ToolRuntime[] = [];

const CODER = [
  'name: Coder',
  'fs_reach:',
  '  read: ["${CWD}/src"]',
  'safety:',
  '  network:',
  '    allow:',
  '      - a.example.com',
];

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'lock-')));
  cwd = join(world, 'work');
  home = join(cwd, '.ethos');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  personality('coder', CODER);
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

function personality(id: string, lines: readonly string[]): void {
  const file = join(home, 'personalities', id, 'config.yaml');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
}

function tool(name: string, capabilities: ToolCapabilities, more: Partial<AnyTool> = {}): AnyTool {
  return {
    ...defineTool({
      name,
      description: `What ${name} does.`,
      input: z.object({}),
      capabilities,
      async execute(_args, ctx) {
        return ok(Object.keys(ctx).join(' '));
      },
    }),
    ...more,
  };
}

const READ = tool('read', { fs_reach: { read: 'from-personality' } });
const FETCH = tool('fetch', { network: { allowedHosts: ['*'] } });

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
  const runtime = await createToolRuntime({
    home,
    cwd,
    personality: 'coder',
    tools: [READ, FETCH],
    ...options,
  });
  open.push(runtime);
  return runtime;
}

const lockFile = () => join(home, 'reach.lock');

async function lock(options: Partial<ToolRuntimeOptions> = {}): Promise<string> {
  const runtime = await start(options);
  const text = formatReachLock(await runtime.reachLock(), { home, cwd });
  writeLockText(lockFile(), text);
  await runtime.close();
  return text;
}

let usual: string | undefined;
/** Writes the lock of the usual agent. Its text is the same in every folder. */
async function lockUsual(): Promise<void> {
  usual ??= await lock();
  writeLockText(lockFile(), usual);
}

/** The differences that a new runtime finds from the lock: `kind who message @line`. */
async function check(options: Partial<ToolRuntimeOptions> = {}): Promise<string[]> {
  const runtime = await start(options);
  const text = readFileSync(lockFile(), 'utf8');
  const changes = await runtime.compareReach(
    parseReachLock(text, { home, cwd, file: 'reach.lock' }),
  );
  await runtime.close();
  return changes.map(
    ({ kind, personality: id = '', tool: name = '', message, line }) =>
      `${kind} ${id} ${name} ${message}${line === undefined ? '' : ` @${line}`}`,
  );
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => errorCodeOf(error) ?? error,
  );

describe('a reach lock', () => {
  it('is text that holds what each tool may touch, with paths that are the same everywhere', async () => {
    expect(await lock()).toMatchInlineSnapshot(`
      "# What the tools of these agents may touch. "ethosagent lock" writes this file, and
      # "ethosagent lock --check" compares: review each change, and don't edit it by hand.

      version: 1
      environment: []
      personalities:
        - personality: coder
          approvals:
            grants:
              - session
              - arguments
              - tool
            sub_agents: none
          untrusted:
            write: ask
            send: ask
            spawn: ask
            trust: []
          servers: []
          tools:
            - tool: fetch
              approval: never
              effects:
                - send
              untrusted: false
              unconfined: false
              grant:
                network:
                  allowedHosts:
                    - a.example.com
            - tool: read
              approval: never
              effects: []
              untrusted: false
              unconfined: false
              grant:
                fs_reach:
                  read:
                    - \${CWD}/src
                  write: []
      servers: []
      texts:
        - tool: fetch
          description: What fetch does.
        - tool: read
          description: What read does.
      "
    `);
    expect(await check()).toEqual([]);
  });

  it('has the same bytes for the same agent in other folders', async () => {
    const here = await lock();
    const other = join(world, 'elsewhere', 'deep');
    mkdirSync(dirname(other), { recursive: true });
    symlinkSync(cwd, other);
    const runtime = await createToolRuntime({
      home: join(other, '.ethos'),
      cwd: other,
      personality: 'coder',
      tools: [FETCH, READ],
    });
    open.push(runtime);
    const there = await runtime.reachLock();
    expect(formatReachLock(there, { home: join(other, '.ethos'), cwd: other })).toBe(here);
  });

  it.each<[string, string[], string[]]>([
    [
      'a host that is added',
      [...CODER, '      - b.example.com'],
      ['widened coder fetch gains requests to b.example.com @8'],
    ],
    [
      'a host that is widened',
      CODER.map((line) => line.replace('a.example.com', '"*.example.com"')),
      ['widened coder fetch gains requests to *.example.com @7'],
    ],
    [
      'a host that is taken away',
      [...CODER.slice(0, 5), '    allow: []'],
      ['narrowed coder fetch loses requests to a.example.com @6'],
    ],
    [
      'a machine that is named',
      [...CODER, '      - 10.0.0.5'],
      [
        'widened coder fetch gains requests to 10.0.0.5 @8',
        'widened coder fetch gains requests to 10.0.0.5, whose address is private @8',
      ],
    ],
    [
      'a folder that is wider',
      CODER.map((line) => line.replace('/src', '')),
      ['widened coder read gains reads in CWD @3'],
    ],
    ['a toolset', [...CODER, 'toolset: [read]'], ['narrowed coder fetch is not there any more']],
    [
      'what a yes may hold for',
      [...CODER, '  approvals:', '    grants: [session]'],
      [
        'narrowed coder  no longer: a yes may hold for the arguments @9',
        'narrowed coder  no longer: a yes may hold for the tool @9',
      ],
    ],
    [
      'what is asked after untrusted content',
      [...CODER, '  untrusted:', '    send: allow', '    write: deny', '    trust: [fetch]'],
      [
        'narrowed coder  write after untrusted content: was ask, is deny @10',
        'widened coder  send after untrusted content: was ask, is allow @9',
        'widened coder  trusts fetch @11',
      ],
    ],
    ['words alone', [...CODER, 'description: Other words.'], []],
  ])('tells %s', async (_, lines, said) => {
    await lockUsual();
    personality('coder', lines);
    expect((await check()).map((line) => line.replace(cwd, 'CWD'))).toEqual(said);
  });

  it.each<[string, string, string[]]>([
    [
      'search/key: own/key',
      'search/key: other/key',
      [
        'widened coder search gains the secret other/key sent to a.example.com @9',
        'narrowed coder search loses the secret own/key sent to a.example.com @9',
      ],
    ],
    [
      'x: own/key',
      'search/key: other/key',
      [
        'widened coder search gains the secret other/key sent to a.example.com @9',
        'narrowed coder search loses the secret search/key sent to a.example.com @9',
      ],
    ],
    [
      'search/key: false',
      'x: own/key',
      ['widened coder search gains the secret search/key sent to a.example.com @9'],
    ],
    [
      'search/key: own/key',
      'search/key: false',
      ['narrowed coder search loses the secret own/key sent to a.example.com @9'],
    ],
  ])('tells that the secret %s became %s', async (before, after, said) => {
    const secrets = [{ ref: 'search/key', hosts: ['a.example.com'] }];
    const search = tool('search', { network: { allowedHosts: ['a.example.com'] }, secrets });
    personality('coder', [...CODER, '  secrets:', `    ${before}`]);
    expect(await lock({ tools: [search] })).toMatch(/secrets:/);
    personality('coder', [...CODER, '  secrets:', `    ${after}`]);
    expect(await check({ tools: [search] })).toEqual(said);
  });

  it('tells quotas and caps that are raised or gone, and those that are new', async () => {
    personality('coder', [...CODER, '  quotas:', '    per_call: { requests: 5, bytes_in: 10 }']);
    await lock();
    personality('coder', [...CODER, '  quotas:', '    per_call: { requests: 9, bytes_out: 1 }']);
    expect((await check()).filter((line) => line.includes(' fetch '))).toEqual([
      'widened coder fetch gains 9 of requests in a call, 5 before @9',
      'widened coder fetch gains any number of bytes_in in a call, 10 before @9',
      'narrowed coder fetch loses any number of bytes_out in a call, 1 before @9',
    ]);
  });

  it.each<[string, Partial<ToolRuntimeOptions>, string[]]>([
    [
      'a new tool with its whole reach',
      { tools: [READ, FETCH, tool('run', { process: { allowedBinaries: ['git'] } })] },
      ['widened coder run is new (approval: never): the program git'],
    ],
    [
      'a new tool that reaches nothing',
      { tools: [READ, FETCH, tool('think', {})] },
      ['widened coder think is new (approval: never): it reaches nothing'],
    ],
    [
      'a declaration that is wider',
      { tools: [READ, tool('fetch', { network: { allowedHosts: ['*'] }, secrets: ['k'] })] },
      ['widened coder fetch gains the value of the secret k'],
    ],
    [
      'a tool that is renamed',
      {
        tools: [
          READ,
          tool('get', { network: { allowedHosts: ['*'] } }, { description: 'What fetch does.' }),
        ],
      },
      ['text coder get was named fetch'],
    ],
    [
      'a tool that is renamed and reaches more',
      {
        tools: [
          READ,
          tool(
            'get',
            { network: { allowedHosts: ['*'] }, secrets: ['k'] },
            { description: 'What fetch does.' },
          ),
        ],
      },
      ['widened coder get gains the value of the secret k', 'text coder get was named fetch'],
    ],
    [
      'a tool that describes itself otherwise',
      { tools: [READ, { ...FETCH, description: 'Fetches anything.' }] },
      ['text  fetch describes itself otherwise'],
    ],
    [
      'a tool that asks',
      { tools: [READ, { ...FETCH, requiresApproval: true }] },
      ['narrowed coder fetch needs approval: always, never before'],
    ],
    [
      'a tool that becomes unconfined',
      { tools: [READ, { ...FETCH, unconfined: true }] },
      [
        'widened coder fetch is unconfined now: nothing bounds or audits what it does',
        'narrowed coder fetch needs approval: always, never before',
        'narrowed coder fetch gives results that count as untrusted now',
        'narrowed coder fetch counts as a tool that may write now',
        'narrowed coder fetch counts as a tool that may spawn now',
      ],
    ],
    [
      'a tool that says that it sends nothing',
      { tools: [READ, { ...FETCH, effects: [] }] },
      ['widened coder fetch does not count as a tool that may send any more, so nobody is asked'],
    ],
    [
      'a variable that programs get',
      { passEnv: ['API_KEY'] },
      ['widened   programs get the environment variable API_KEY'],
    ],
    ['tools in another order', { tools: [FETCH, READ] }, []],
  ])('tells %s', async (_, options, said) => {
    await lockUsual();
    expect(await check(options)).toEqual(said);
  });

  it('tells that a tool is not available now as nothing', async () => {
    const text = await lock();
    const tools = [READ, { ...FETCH, isAvailable: () => false }];
    const runtime = await start({ tools });
    expect(formatReachLock(await runtime.reachLock(), { home, cwd })).toBe(text);
  });

  it('tells a consent to less: a tool that asks always, and then by the call', async () => {
    await lock({ tools: [READ, { ...FETCH, requiresApproval: true }] });
    expect(await check({ tools: [READ, { ...FETCH, requiresApproval: () => false }] })).toEqual([
      'widened coder fetch needs approval: by-call, always before',
    ]);
  });

  it('tells a new personality with the reach of its tools, and one that is gone', async () => {
    await lockUsual();
    personality('other', ['name: Other']);
    expect(await check()).toEqual([
      'text other  is a new personality',
      'widened other fetch is new (approval: never): it reaches nothing',
      'widened other read is new (approval: never): it reaches nothing',
    ]);
    await lock();
    rmSync(join(home, 'personalities', 'other'), { recursive: true });
    expect(await check()).toEqual(['narrowed other  is gone']);
  });

  it('is taken of some personalities, and compared with them alone', async () => {
    personality('other', ['name: Other']);
    await lock();
    personality('coder', [...CODER, '      - b.example.com']);
    const runtime = await start();
    const text = readFileSync(lockFile(), 'utf8');
    const before = parseReachLock(text, { home, cwd, file: 'reach.lock' });
    const { personalities } = await runtime.reachLock(['other']);
    expect(personalities.map((each) => each.personality)).toEqual(['other']);
    expect(await runtime.compareReach(before, ['other'])).toEqual([]);
    expect(await runtime.compareReach(before, ['coder'])).toMatchObject([{ kind: 'widened' }]);
  });

  it('takes changed settings of a tool for wider, since only the tool knows', async () => {
    const setting = defineTool({
      name: 'set',
      description: 'Has settings.',
      input: z.object({}),
      settings: z.object({ limit: z.number().optional() }),
      capabilities: {},
      async execute() {
        return ok('');
      },
    });
    personality('coder', [...CODER, 'tool_settings:', '  set: { limit: 5 }']);
    await lock({ tools: [setting] });
    personality('coder', [...CODER, 'tool_settings:', '  set: { limit: 4 }']);
    expect(await check({ tools: [setting] })).toEqual(['widened coder set has other settings @9']);
  });

  it('tells a folder that became a link to elsewhere', async () => {
    mkdirSync(join(cwd, 'src'));
    const outside = join(world, 'outside');
    mkdirSync(outside);
    await lock();
    rmSync(join(cwd, 'src'), { recursive: true });
    symlinkSync(outside, join(cwd, 'src'));
    expect(await check()).toEqual([
      `widened coder read gains files in ${outside}, to which ${join(cwd, 'src')} leads @3`,
      `narrowed coder read loses files in ${join(cwd, 'src')}, to which ${join(cwd, 'src')} leads @3`,
    ]);
  });

  it('tells a declared folder that became a link to elsewhere in the reach', async () => {
    const declared = join(cwd, 'src/public');
    const secret = join(cwd, 'src/private');
    const tools = [tool('public', { fs_reach: { read: [declared] } })];
    for (const folder of [declared, secret]) mkdirSync(folder, { recursive: true });
    await lock({ tools });
    rmSync(declared, { recursive: true });
    symlinkSync(secret, declared);
    expect(await check({ tools })).toEqual([
      `widened coder public gains files in ${secret}, to which ${declared} leads @3`,
      `narrowed coder public loses files in ${declared}, to which ${declared} leads @3`,
    ]);
  });

  it('tells that the home is not denied any more', async () => {
    personality('coder', [...CODER.slice(0, 2), '  read: ["${CWD}"]']);
    const text = await lock();
    expect(text).toMatch(/deny:\n +- \$\{ETHOS_HOME\}\n/);
    mkdirSync(join(home, 'notes'));
    personality('coder', [...CODER.slice(0, 2), '  read: ["${ETHOS_HOME}/notes"]']);
    const said = await check();
    expect(said.some((line) => line.startsWith('widened coder read gains files in'))).toBe(true);
  });
});

describe('createToolRuntime with a lock', () => {
  const isOpenFor = async (runtime: ToolRuntime, id: string) => {
    const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'fetch', args: {} }], {
      personality: id,
    });
    return answer?.result.ok === true ? 'ok' : answer?.result.cause;
  };

  it('starts where nothing is wider, and gives tools what they had', async () => {
    await lockUsual();
    const runtime = await start({ lock: true });
    expect(await isOpenFor(runtime, 'coder')).toBe('ok');
    expect((await runtime.definitions()).map(({ name }) => name)).toEqual(['read', 'fetch']);
  });

  it('starts where something is narrower', async () => {
    await lockUsual();
    personality('coder', ['name: Coder']);
    await expect(start({ lock: lockFile() })).resolves.toBeDefined();
  });

  it('does not start where a tool reaches more, and says what', async () => {
    await lockUsual();
    personality('coder', ['name: Coder', 'safety:', '  network:', '    allow: ["*"]']);
    await expect(start({ lock: true })).rejects.toThrow(
      /^REACH_WIDENED: tools may touch more than .*reach\.lock says;.*\n- coder: fetch gains requests to \*$/s,
    );
  });

  it.each([
    ['a relative path', 'reach.lock'],
    ['a lock that is not there', true],
  ] as const)('does not start with %s', async (_, option) => {
    expect(await codeOf(start({ lock: option }))).toBe('CONFIG_INVALID');
  });

  it('refuses the calls of a personality that is widened while it runs, until that is undone', async () => {
    await lockUsual();
    const runtime = await start({ lock: true });
    const before = readFileSync(join(home, 'personalities/coder/config.yaml'), 'utf8').split('\n');
    personality('coder', [...before.slice(0, -1), '      - b.example.com']);
    expect(await isOpenFor(runtime, 'coder')).toBe('REACH_WIDENED');
    expect(await codeOf(runtime.definitions())).toBe('REACH_WIDENED');
    expect(await codeOf(runtime.switchPersonality('coder'))).toBe('REACH_WIDENED');
    personality('coder', before.slice(0, -1));
    expect(await isOpenFor(runtime, 'coder')).toBe('ok');
  });

  it('goes by the lock that it read, not by one that was swapped later', async () => {
    await lockUsual();
    const runtime = await start({ lock: true });
    personality('coder', ['name: Coder', 'safety:', '  network:', '    allow: ["*"]']);
    await lock();
    expect(await isOpenFor(runtime, 'coder')).toBe('REACH_WIDENED');
  });

  it('refuses other personalities, and what they meet, by themselves', async () => {
    personality('wide', ['name: Wide']);
    await lock();
    personality('wide', ['name: Wide', 'safety:', '  network:', '    allow: ["*"]']);
    personality('fresh', ['name: Fresh']);
    const runtime = await start({ lock: true });
    const ids = ['coder', 'wide', 'coder/wide', 'wide/coder', 'fresh', 'coder/fresh'];
    expect(await Promise.all(ids.map((id) => isOpenFor(runtime, id)))).toEqual([
      'ok',
      ...ids.slice(1).map(() => 'REACH_WIDENED'),
    ]);
  });

  it('gives a call that waits nothing of what its personality gained meanwhile', async () => {
    const asked = tool('asked', { network: { allowedHosts: ['*'] } }, { requiresApproval: true });
    const hosts: string[] = [];
    const tools = [asked];
    await lock({ tools });
    let widen = async () => {};
    const runtime = await start({
      tools,
      lock: true,
      approve: async () => {
        await widen();
        return { approved: true };
      },
      onAccess: ({ target }) => {
        hosts.push(target);
      },
    });
    widen = async () => {
      personality('coder', ['name: Coder', 'safety:', '  network:', '    allow: ["*"]']);
      expect(await isOpenFor(runtime, 'coder')).toBe('REACH_WIDENED');
    };
    const [answer] = await runtime.execute([{ toolCallId: 'c', name: 'asked', args: {} }]);
    expect(answer?.result).toMatchObject({ ok: false, cause: 'NOT_APPROVED' });
    expect(hosts).toEqual([]);
  });

  it('refuses a tool that came later, without ending those that were there', async () => {
    await lockUsual();
    const runtime = await start({ lock: true });
    runtime.registry.register(tool('late', { process: { allowedBinaries: ['*'] } }));
    expect(await isOpenFor(runtime, 'coder')).toBe('REACH_WIDENED');
    runtime.registry.unregister('late');
    expect(await isOpenFor(runtime, 'coder')).toBe('ok');
  });

  it.each<[string, (file: string) => void]>([
    [
      'a link',
      (file) => {
        const there = join(world, 'there.lock');
        writeFileSync(there, readFileSync(file));
        rmSync(file);
        symlinkSync(there, file);
      },
    ],
    [
      'a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    ['no UTF-8', (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x41]))],
  ])('does not read a lock that is %s', async (_, change) => {
    await lockUsual();
    change(lockFile());
    expect(await codeOf(start({ lock: true }))).toBe('CONFIG_INVALID');
  });

  it('does not read a lock that tools could write', async () => {
    await lockUsual();
    personality('coder', ['name: Coder', 'fs_reach:', '  write: ["${CWD}/out"]']);
    mkdirSync(join(cwd, 'out'));
    writeFileSync(join(cwd, 'out', 'reach.lock'), readFileSync(lockFile()));
    symlinkSync(join(cwd, 'out'), join(world, 'by-link'));
    for (const folder of [join(cwd, 'out'), join(world, 'by-link')]) {
      await expect(start({ lock: join(folder, 'reach.lock') })).rejects.toThrow('tools may write');
    }
  });

  it('writes through no link, and leaves nothing behind', async () => {
    const victim = join(world, 'victim');
    writeFileSync(victim, 'mine');
    symlinkSync(victim, lockFile());
    expect(() => writeLockText(lockFile(), 'x')).toThrow('is a link');
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(existsSync(lockFile())).toBe(true);
  });
});
