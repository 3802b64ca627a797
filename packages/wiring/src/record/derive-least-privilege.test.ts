import {
  compileHostSet,
  isPortAllowed,
  isWithin,
  meetHosts,
  parseHostPattern,
  resolveAllowedHosts,
} from '@ethosagent/policy';
import { tries } from '@ethosagent/test-support';
import type { AuditCall, AuditEvent, PersonalityConfig, ToolCapabilities } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePersonality } from '../personality-parse.js';
import { deriveLeastPrivilege } from './derive-least-privilege.js';
import type { LeastPrivilegeOptions } from './least-privilege.js';
import { mergeIntoPersonality } from './merge-least-privilege.js';

const CWD = '/users/ada/project';
const HOME = '/users/ada/project/.ethos';
const USER = '/users/ada';

function access(part: Partial<AuditEvent> & Pick<AuditEvent, 'capability' | 'target'>): AuditEvent {
  return {
    time: '2026-05-01T08:00:00.000Z',
    sessionId: 's',
    personalityId: 'coder',
    toolName: 'tool',
    toolCallId: 'c',
    operation: part.capability === 'network' ? 'fetch' : 'read',
    decision: 'allowed',
    reason: 'test',
    ...part,
  };
}

const read = (target: string, operation = 'read') =>
  access({ capability: 'fs_reach.read', target, operation });
const written = (target: string, operation = 'write') =>
  access({ capability: 'fs_reach.write', target, operation });
const fetched = (target: string) => access({ capability: 'network', target });

function derive(
  events: readonly (AuditEvent | AuditCall)[],
  {
    config = {},
    capabilities = {},
    ...options
  }: {
    config?: Partial<PersonalityConfig>;
    capabilities?: ToolCapabilities;
  } & Partial<LeastPrivilegeOptions> = {},
) {
  return deriveLeastPrivilege(events, {
    cwd: CWD,
    home: HOME,
    userHome: USER,
    personality: { id: 'coder', name: 'Coder', fs_reach: { read: ['/'], write: ['/'] }, ...config },
    tools: [{ name: 'tool', capabilities, offered: true }],
    isFolder: () => false,
    passesLink: () => false,
    ...options,
  });
}

const texts = (entries: readonly { text: string }[]) => entries.map(({ text }) => text);
const allowing = (...allow: string[]) => ({ config: { safety: { network: { allow } } } });

describe('the folders of a run', () => {
  it.each<[what: string, AuditEvent[], string[]]>([
    ['a file', [read(`${CWD}/src/a.ts`)], ['${CWD}/src']],
    [
      'two folders beside each other',
      [read(`${CWD}/a/1`), read(`${CWD}/b/1`)],
      ['${CWD}/a', '${CWD}/b'],
    ],
    ['three of them', [read('/data/x/a/1'), read('/data/x/b/1'), read('/data/x/c/1')], ['/data/x']],
    [
      'three below the working directory',
      [read(`${CWD}/a/1`), read(`${CWD}/b/1`), read(`${CWD}/c/1`)],
      ['${CWD}/a', '${CWD}/b', '${CWD}/c'],
    ],
    [
      'three projects',
      ['a', 'b', 'c'].map((name) => read(`${USER}/${name}/1`)),
      [`${USER}/a`, `${USER}/b`, `${USER}/c`],
    ],
    ['three folders of the root', [read('/a/1'), read('/b/1'), read('/c/1')], ['/a', '/b', '/c']],
    ['a file of the working directory', [read(`${CWD}/a.txt`)], ['${CWD}/a.txt']],
    ['a file of the home of the user', [read(`${USER}/.profile`)], [`${USER}/.profile`]],
    ['a file of the root', [read('/vmlinuz')], ['/vmlinuz']],
    ['a folder that was listed', [read(`${CWD}/src`, 'list')], ['${CWD}/src']],
    ['the working directory, listed', [read(CWD, 'list')], ['${CWD}']],
    ['a path with dots', [read(`${CWD}/src/../lib/a.ts`)], ['${CWD}/lib']],
    ['a relative path', [read('lib/a.ts')], ['${CWD}/lib']],
    ['a folder below another', [read('/d/a/1'), read('/d/a/b/2')], ['/d/a']],
  ])('are those of %s', (_, events, expected) => {
    expect(texts(derive(events).read)).toEqual(expected);
  });

  it.each([
    ['the root', '/'],
    ['the home of the user', USER],
    ['what holds it', '/users'],
  ])('never are %s, listed or not', (_, folder) => {
    const { read: found, unclear } = derive([read(folder, 'list')]);
    expect(found).toEqual([]);
    expect(unclear).toMatchObject([{ target: folder, why: expect.stringContaining('too wide') }]);
  });

  it('are named by the home where they are in it', () => {
    const config = { fs_reach: { read: [`${HOME}/notes`] } };
    expect(texts(derive([read(`${HOME}/notes/a.md`)], { config }).read)).toEqual([
      '${ETHOS_HOME}/notes',
    ]);
  });

  it('are generalised within what is reached today alone', () => {
    const config = { fs_reach: { read: ['/data/a', '/data/b', '/data/c'] } };
    const { read: found } = derive([read('/data/a/1'), read('/data/b/1'), read('/data/c/1')], {
      config,
    });
    expect(texts(found)).toEqual(['/data/a', '/data/b', '/data/c']);
  });

  it('hold no folder that is removed later, which can be no root', () => {
    const events = [written('/data/x/tmp/1'), written('/data/x/tmp', 'remove')];
    expect(texts(derive(events).write)).toEqual(['/data/x']);
  });

  it('are read by what holds a folder that a write removes', () => {
    const events = [read('/data/x/tmp/1'), written('/data/x/tmp', 'remove')];
    expect(texts(derive(events).read)).toEqual(['/data/x']);
  });

  it.each<[what: string, Partial<LeastPrivilegeOptions>, AuditEvent, string[]]>([
    ['a home of the user elsewhere', { userHome: '/u/eve' }, read('/u/eve', 'list'), []],
    ['what holds a home elsewhere', { home: '/srv/home' }, read('/srv', 'list'), []],
    ['a working directory without a home', { home: '/srv/home' }, read(`${CWD}/a`), ['${CWD}/a']],
    ['a folder behind a link', { passesLink: () => true }, read('/d/a/1'), []],
  ])('never are %s', (_, options, event, expected) => {
    expect(texts(derive([event], options).read)).toEqual(expected);
  });

  it('hold both ends of a rename', () => {
    expect(texts(derive([written('/d/a/1 -> /d/b/2', 'rename')]).write)).toEqual(['/d/a', '/d/b']);
  });

  it.each([
    ['a rename that can be read in two ways', written('/d/a -> b/1 -> /d/c', 'rename')],
    ['a path that was cut', written(`/d/${'x'.repeat(4_000)}…`)],
    ['a path with a secret in it', written('/d/[secret:providers/x/key]/a')],
    ['a path with a variable in its name', written('/d/${CWD}/x/a')],
    ['half of a surrogate pair', written('/d/\ud800/a')],
  ])('are not guessed for %s', (_, event) => {
    const { write, unclear } = derive([event]);
    expect([write, unclear.length]).toEqual([[], 1]);
  });

  it('stay as they are where a process may have used them', () => {
    const events = [
      read('/d/a/1'),
      access({ capability: 'process', target: 'git', operation: 'spawn' }),
    ];
    const capabilities = { process: { allowedBinaries: ['git'] }, fs_reach: { read: ['/d'] } };
    const { kept, read: found } = derive(events, { capabilities });
    expect([kept.map(({ key }) => key), found]).toEqual([['fs_reach.read', 'fs_reach.write'], []]);
  });
});

describe('the hosts of a run', () => {
  it.each<[what: string, string[], string[], string[]]>([
    ['exact where a suffix allows them', ['https://a.x.com/p'], ['*.x.com'], ['a.x.com']],
    ['exact where all are allowed', ['https://a.x.com/p'], ['*'], ['a.x.com']],
    ['with a port that is not the default', ['http://a.com:8080/'], ['*'], ['a.com:8080']],
    [
      'with both ports where one is not',
      ['https://a.com/', 'https://a.com:8443/'],
      ['*'],
      ['a.com:443', 'a.com:8443'],
    ],
    ['not wider than a port of today', ['https://a.com/'], ['a.com:443'], ['a.com:443']],
    ['those of IPv6', ['https://[2606:4700::1111]:8443/'], ['*'], ['[2606:4700::1111]:8443']],
    [
      'what the operator named, private or not',
      ['http://127.0.0.1:9000/'],
      ['127.0.0.1:9000', '*'],
      ['127.0.0.1:9000'],
    ],
  ])('are %s', (_, targets, today, expected) => {
    expect(texts(derive(targets.map(fetched), allowing(...today)).allow)).toEqual(expected);
  });

  it.each([
    'http://127.0.0.1:8080/',
    'http://localhost/',
    'http://x.localhost/',
    'http://10.0.0.8/',
    'http://[::1]/',
    'http://169.254.169.254/',
  ])('never are private: %s needs the word of the operator', (target) => {
    const config = { safety: { network: { allow: ['*'], allow_private_urls: true } } };
    const { allow, unclear, declarations } = derive([fetched(target)], {
      config,
      capabilities: { network: { allowedHosts: ['*'] } },
    });
    expect(allow).toEqual([]);
    expect(unclear).toMatchObject([{ why: expect.stringContaining('private address') }]);
    expect(declarations).toEqual([]);
  });

  it('are not listed where "*" of a tool is nothing without a list, and would be all of it', () => {
    const capabilities = { network: { allowedHosts: ['a.com', '*'] } };
    const { kept, allow } = derive([fetched('https://a.com/')], { capabilities });
    expect([kept.map(({ key }) => key), allow]).toEqual([['safety.network.allow'], []]);
  });
});

describe('what was refused', () => {
  it('is told once with its number, and is no part of what is derived', () => {
    const denied: AuditEvent = { ...read('/etc/shadow'), decision: 'denied', reason: 'deny floor' };
    const found = derive([denied, denied, denied]);
    expect(found).toMatchObject({ declarations: [], toolset: [], read: [] });
    expect(found.denied).toMatchObject([{ target: '/etc/shadow', count: 3 }]);
  });

  it('is a call that a gate answered, too', () => {
    const call: AuditCall = {
      ...{ kind: 'call', time: '', sessionId: 's', personalityId: 'coder', toolName: 'tool' },
      ...{ toolCallId: 'c', argsDigest: '', gate: 'ask-approval', outcome: 'not_available' },
      ...{ durationMs: 0, bytes: 0, approval: { approved: false, reason: 'sends' } },
    };
    const { denied, toolset } = derive([call]);
    expect(toolset).toEqual([]);
    expect(denied).toMatchObject([{ capability: 'call', why: expect.stringContaining('sends') }]);
  });

  it('is a call that a gate refused without asking, and what another personality did', () => {
    const call: AuditCall = {
      ...{ kind: 'call', time: '', sessionId: 's', personalityId: 'coder', toolName: 'tool' },
      ...{ toolCallId: 'c', argsDigest: '', gate: 'untrusted', outcome: 'not_available' },
      ...{ durationMs: 0, bytes: 0 },
    };
    const other = { ...read('/d/a/1'), personalityId: 'coder2' };
    expect(derive([call, other])).toMatchObject({
      ...{ toolset: [], read: [], declarations: [] },
      denied: [{ capability: 'call', target: 'tool', why: 'refused at the gate untrusted' }],
    });
    const both = { ...read('/d/a/1'), personalityId: 'coder2/coder' };
    expect(texts(derive([both]).read)).toEqual(['/d/a']);
  });

  it('is what a tool did that the personality does not offer today', () => {
    const tools = [{ name: 'tool', capabilities: {}, offered: false }];
    const { toolset, read: found, unclear } = derive([read('/d/a/1')], { tools });
    expect([toolset, found, unclear.length]).toEqual([[], [], 1]);
  });
});

const HOSTILE = [
  'a\n  - /etc\nsafety: { network: { allow_private_urls: true } }',
  'a # no comment',
  "'] }",
  '"quoted"',
  '- list',
  '*alias',
  '!!tag x',
  '&anchor',
  '\u001b[31mred',
  '\u2028line',
  'a: b',
  '{{x}}',
  ' spaces ',
  '\t',
];

const pad = (text: string) => (text.includes('[ ') ? ' ' : '');

describe('a merge', () => {
  const file = 'name: Coder # mine\nfs_reach:\n  read: [/data]\n';
  const variables = { ETHOS_HOME: HOME, CWD, self: `${HOME}/personalities/coder` };
  const config = parsePersonality(file, { file: 'f', id: 'coder', variables });
  const merge = (events: readonly AuditEvent[]) =>
    mergeIntoPersonality(file, derive(events, { personality: config }), { home: HOME, cwd: CWD });

  it.each(HOSTILE)('takes %j for a name and for nothing else', (name) => {
    const merged = merge([read(`/data/${name}/file`)]);
    const after = parsePersonality(merged, { file: 'f', id: 'coder', variables });
    expect(after).toEqual({
      id: 'coder',
      name: 'Coder',
      toolset: ['tool'],
      fs_reach: { read: [`/data/${name}`] },
      safety: { network: { allow: [] } },
    });
    expect(merged).toContain('# mine');
  });

  it.each([
    ['toolset: [a, tool] # two', 'toolset: [tool] # two'],
    ['toolset: [ a, tool ]', 'toolset: [ tool ]'],
  ])('writes brackets as the owner of %j does', (before, after) => {
    const owners = (toolset: string) =>
      `name: Coder\n${toolset}\nmcp_servers: [${pad(toolset)}b${pad(toolset)}]\n`;
    const least = derive([read('/data/x/1')]);
    const merged = mergeIntoPersonality(
      owners(before),
      { ...least, read: [] },
      { home: HOME, cwd: CWD },
    );
    expect(merged.replace('safety:\n  network:\n    allow: []\n', '')).toBe(owners(after));
  });

  it('leaves every other line as the owner wrote it, in whatever style', () => {
    const others =
      "mcp_servers: [b,c]\ndescription:   'x' # mine\nplugins: [ a,b ]\n# The reach.\nfs_reach:\n    read:\n    - /data/x\n";
    const text = (toolset: string) => `name: 'Coder'\ntoolset: ${toolset}\n${others}`;
    const least = derive([read('/data/x/1')]);
    const kept = [{ key: 'safety.network.allow' as const, why: '' }];
    const merged = mergeIntoPersonality(
      text('[ a, tool ]'),
      { ...least, kept },
      { home: HOME, cwd: CWD },
    );
    expect(merged).toBe(text('[ tool ]'));
  });

  it.each(HOSTILE)('takes %j for the name of a tool', (name) => {
    const merged = merge([{ ...read('/data/x/1'), toolName: name }]);
    const after = parsePersonality(merged, { file: 'f', id: 'coder', variables });
    // No tool has a name without a visible character.
    expect(after.toolset).toEqual(name.trim() === '' ? [] : [name]);
    expect(after.safety).toEqual({ network: { allow: [] } });
  });
});

/** Whether a tool with these declared hosts may request a port of a host under an allow list. */
function mayRequest(
  { declared, allow }: { declared: readonly string[]; allow: readonly string[] | undefined },
  host: string,
  port: number,
): boolean {
  const rule = compileHostSet(resolveAllowedHosts(declared, allow)).matches(host, port);
  return rule !== undefined && isPortAllowed(port, parseHostPattern(rule)?.port === port);
}

describe('what is derived', () => {
  it('opens no folder of the home that a wide root closes today, whatever an old log says', () => {
    const config = { fs_reach: { read: ['/users/ada/project'] } };
    const { read: found, unclear } = derive([read(`${HOME}/notes/a.md`)], { config });
    expect([found, unclear.length]).toEqual([[], 1]);
  });

  it('tells that a memory was never written', () => {
    const used = access({ capability: 'memory', target: 'a', operation: 'read' });
    const { unused } = derive([used], { capabilities: { memory: { access: 'read-write' } } });
    expect(unused).toContain('tool tool: memory: to write');
  });

  it('leaves the hosts as they are where a tool that is always in declares "*"', () => {
    const tools = [
      { name: 'tool', capabilities: { network: { allowedHosts: ['a.com'] } }, offered: true },
      {
        name: 'always',
        capabilities: { network: { allowedHosts: ['*'] } },
        offered: true,
        alwaysInclude: true,
      },
    ];
    const { kept } = derive([fetched('https://a.com/')], { tools });
    expect(kept.map(({ key }) => key)).toEqual(['safety.network.allow']);
  });

  it('lets no tool make a request that was refused before, and keeps those of the run', () => {
    const hosts = ['a.com', 'x.a.com', 'b.com'];
    const ports = [80, 443, 5432, 8443];
    const patterns = fc
      .tuple(
        fc.constantFrom('*', '*.a.com', ...hosts),
        fc.constantFrom('', ':443', ':5432', ':8443'),
      )
      .map(([host, port]) => host + port);
    const lists = fc.array(patterns, { minLength: 1, maxLength: 3 });
    const request = fc.tuple(
      fc.constantFrom('tool', 'other'),
      fc.constantFrom(...hosts),
      fc.constantFrom(...ports),
    );
    fc.assert(
      fc.property(
        fc.tuple(lists, lists),
        fc.option(lists, { nil: undefined }),
        fc.array(request, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        ([mine, others], allow, requests, isForged) => {
          const declared = { tool: mine, other: others };
          const names = ['tool', 'other'] as const;
          const made = requests.flatMap(([tool, host, port]) => {
            const own = names.find((name) => name === tool) ?? 'tool';
            return isForged || mayRequest({ declared: declared[own], allow }, host, port)
              ? [{ own, host, port }]
              : [];
          });
          const least = derive(
            made.map(({ own, host, port }) => ({
              ...fetched(`${port === 80 ? 'http' : 'https'}://${host}:${port}/`),
              toolName: own,
            })),
            {
              config: { safety: { network: { ...(allow !== undefined && { allow }) } } },
              tools: names.map((name) => ({
                name,
                capabilities: { network: { allowedHosts: declared[name] } },
                offered: true,
              })),
            },
          );
          const isKept = least.kept.some(({ key }) => key === 'safety.network.allow');
          const after = isKept ? allow : texts(least.allow);
          const called = new Set(texts(least.toolset));
          for (const name of names.filter((each) => called.has(each))) {
            for (const host of hosts) {
              for (const port of ports) {
                if (mayRequest({ declared: declared[name], allow: after }, host, port)) {
                  expect(mayRequest({ declared: declared[name], allow }, host, port)).toBe(true);
                }
              }
            }
          }
          if (isForged) return;
          for (const { own, host, port } of made) {
            expect(mayRequest({ declared: declared[own], allow: after }, host, port)).toBe(true);
          }
        },
      ),
      { numRuns: tries({ check: 300, nightly: 10_000, long: 200_000 }) },
    );
  });

  const folder = fc
    .array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 })
    .map((parts) => `/${parts.join('/')}`);
  const host = fc.constantFrom('a.com', 'x.a.com', 'y.x.a.com', 'b.com', '10.0.0.1', 'localhost');
  const pattern = fc.constantFrom(
    '*',
    '*.a.com',
    'a.com',
    'x.a.com:443',
    '*:8443',
    'b.com',
    'b.com:80',
  );
  const operation = fc.constantFrom('read', 'list', 'exists', 'mkdir');

  it('never is more than the personality allows today, whatever the log says', () => {
    fc.assert(
      fc.property(
        fc.array(folder, { maxLength: 4 }),
        fc.array(pattern, { maxLength: 3 }),
        fc.array(fc.tuple(folder, operation), { maxLength: 12 }),
        fc.array(fc.tuple(host, fc.constantFrom('', ':80', ':443', ':8443')), { maxLength: 6 }),
        (roots, allow, paths, hosts) => {
          const least = derive(
            [
              ...paths.map(([path, how]) => read(path, how)),
              ...hosts.map(([name, port]) => fetched(`https://${name}${port}/`)),
            ],
            { config: { fs_reach: { read: roots }, safety: { network: { allow } } } },
          );
          for (const { value } of least.read) {
            expect(roots.some((root) => isWithin(value, root))).toBe(true);
          }
          for (const { value } of least.allow) {
            expect(allow.some((each) => meetHosts(each, value) === value)).toBe(true);
            expect(value).not.toMatch(/\*|localhost|10\.0/);
          }
        },
      ),
      { numRuns: tries({ check: 300, long: 50_000 }) },
    );
  });
});
