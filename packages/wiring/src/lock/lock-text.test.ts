import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareReachLocks } from './compare-locks.js';
import { formatReachLock, parseReachLock } from './lock-text.js';
import type { LockedPersonality, LockedTool, ReachLock } from './reach-lock.js';

const PLACES = { home: '/agent/.ethos', cwd: '/agent' };
const FILE = { ...PLACES, file: 'reach.lock' };

function tool(name: string, more: Partial<LockedTool> = {}): LockedTool {
  return {
    tool: name,
    approval: 'never',
    effects: [],
    untrusted: false,
    unconfined: false,
    grant: {},
    ...more,
  };
}

function lock(tools: readonly LockedTool[], more: Partial<ReachLock> = {}): ReachLock {
  return {
    environment: [],
    personalities: [
      {
        personality: 'coder',
        approvals: { grants: [], sub_agents: 'none' },
        untrusted: { write: 'ask', send: 'ask', spawn: 'ask', trust: [] },
        servers: [],
        tools,
      },
    ],
    servers: [],
    texts: [],
    ...more,
  };
}

const said = (description: string) =>
  lock([], { texts: [{ tool: 'mcp__s__t', description, schema: '{}' }] });
const written = (made: ReachLock) => formatReachLock(made, PLACES);

/** Texts that try to mislead a reader of the file. */
const HOSTILE = [
  'a\npersonalities: []',
  'x\n---\nversion: 1',
  '# no comment',
  '- item\n  - item',
  ': colon',
  '\'quotes\' "and" `ticks`',
  '&anchor *alias !tag',
  '<<: *merge',
  '\u001b[31mred\u001b[0m\u001b]0;title\u0007',
  'a\u202eb\u2066c',
  'zero\u200bwidth\ufeff',
  'line\u2028separator\u0085next',
  'tags \u{e0041}\u{e0042}',
  'hangul\u3164filler\u00a0space',
  '\r\ncarriage\rreturn',
  '\t tab',
  '  leading\n    and deeper\n',
  'trailing \n\n\n',
  ' \n',
  '\n \n\n',
  '\ud800 half',
  '%YAML 1.1',
  '...',
  'null',
  '1',
  '',
  '${CWD}/x',
];

/** Characters that are invisible in a diff, or change how others are displayed. */
const UNSEEN = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/u;

describe('the text of a lock', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text), text] as const))(
    'holds the description %s as it is, and shows all of it',
    (_, text) => {
      const made = said(text);
      const out = written(made);
      expect(UNSEEN.test(out)).toBe(false);
      expect(parseReachLock(out, FILE)).toEqual(made);
    },
  );

  fuzz(
    'says all that it was made of, whatever tools say of themselves',
    fc.record({
      description: fc.oneof(
        anyText({ maxLength: 60 }),
        // What YAML has rules for.
        fc.string({ unit: fc.constantFrom(...' \na-#:|>'), maxLength: 8 }),
        fc
          .array(fc.constantFrom(...HOSTILE, '\n', ' ', '\\', '"', '\u202e'), { maxLength: 5 })
          .map((parts) => parts.join('')),
      ),
      entries: fc.array(fc.oneof(anyText({ maxLength: 20 }), fc.constantFrom(...HOSTILE)), {
        maxLength: 3,
      }),
    }),
    ({ description, entries }) => {
      const made: ReachLock = {
        ...said(description),
        environment: entries,
        servers: entries.slice(0, 1).map((server) => ({
          server,
          reached: entries,
          names: entries,
          pin: server,
        })),
      };
      const out = written(made);
      expect(UNSEEN.test(out)).toBe(false);
      expect(parseReachLock(out, FILE)).toEqual(made);
    },
    { runs: { check: 75, nightly: 5_000, long: 50_000 } },
  );

  it('keeps keys that objects inherit for what they are', () => {
    const rules = JSON.parse('{"constructor":{"deny":["-x"]},"toString":{"allow":[]}}');
    const grant = { process: { allowedBinaries: ['*'], arguments: rules } };
    const made = lock([tool('constructor', { grant }), tool('hasOwnProperty')]);
    const read = parseReachLock(written(made), FILE);
    expect(read).toEqual(made);
    const less = lock([tool('constructor', { grant: { process: { allowedBinaries: ['*'] } } })]);
    expect(compareReachLocks(read, less).map(({ kind }) => kind)).toEqual([
      'widened',
      'widened',
      'narrowed',
    ]);
  });

  it('does not read a key that would be the prototype', () => {
    const text = written(
      lock([tool('t', { grant: { process: { allowedBinaries: ['*'], arguments: { git: {} } } } })]),
    ).replace('git:', '__proto__:');
    expect(() => parseReachLock(text, FILE)).toThrow('reach.lock');
  });

  it('tells tools apart that are named like keys of objects', () => {
    const before = lock([tool('__proto__')]);
    expect(parseReachLock(written(before), FILE)).toEqual(before);
    expect(compareReachLocks(before, lock([tool('__proto__'), tool('constructor')]))).toMatchObject(
      [{ kind: 'widened', tool: 'constructor' }],
    );
  });

  it('keeps paths below the home and the working directory apart from the machine', () => {
    const paths = ['/agent', '/agent/.ethos/notes', '/agent-2', '/agent/x', '/other'];
    const made = lock([tool('t', { grant: { fs_reach: { read: paths, write: [] } } })]);
    const out = written(made);
    expect(
      [...out.matchAll(/^ +- (\S*(?:CWD|HOME|agent|other).*)$/gm)].map(([, path]) => path),
    ).toEqual(['${CWD}', '${CWD}/x', '${ETHOS_HOME}/notes', '/agent-2', '/other']);
    const there = parseReachLock(out, { home: '/h', cwd: '/w', file: 'reach.lock' });
    const [{ tools: [read] = [] } = {}] = there.personalities;
    expect(read?.grant.fs_reach?.read.toSorted()).toEqual([
      '/agent-2',
      '/h/notes',
      '/other',
      '/w',
      '/w/x',
    ]);
  });

  it('keeps every part of a reach that holds paths apart from the machine', () => {
    const here = (at: string, home: string) => {
      const made = lock([
        tool('t', {
          grant: {
            fs_reach: {
              ...{ read: [`${at}/in`], write: [], deny: [home], stays: [`${at}/link`] },
              leads: { [`${at}/in`]: `${at}/link` },
            },
            process: { allowedBinaries: [`${at}/bin/x`, 'git'], sandbox: 'required' },
          },
        }),
      ]);
      const [personality] = made.personalities;
      if (personality === undefined) throw new Error('there is none');
      const trust = [`${at}/docs/**`, `${at}/in`, '/other/**', 'https://a.example/**', 'web'];
      const untrusted = { ...personality.untrusted, trust };
      return { ...made, personalities: [{ ...personality, untrusted }] };
    };
    const out = written(here('/agent', PLACES.home));
    expect(out).not.toContain('/agent');
    expect(parseReachLock(out, { home: '/h', cwd: '/w', file: 'reach.lock' })).toEqual(
      parseReachLock(formatReachLock(here('/w', '/h'), { home: '/h', cwd: '/w' }), {
        ...{ home: '/h', cwd: '/w', file: 'reach.lock' },
      }),
    );
    expect(parseReachLock(out, FILE)).toEqual(here('/agent', PLACES.home));
  });

  it('takes a variable without a border for a name', () => {
    const out = written(
      lock([tool('t', { grant: { fs_reach: { read: ['/agent/x'], write: [] } } })]),
    );
    const { personalities } = parseReachLock(out.replace('${CWD}/x', '${CWD}x'), FILE);
    expect(personalities[0]?.tools[0]?.grant.fs_reach?.read).toEqual(['${CWD}x']);
  });

  it('is refused where it is too long, and where it is nested too deeply', () => {
    for (const text of ['x'.repeat(8_000_001), '['.repeat(100_000), '{'.repeat(50_000)]) {
      let code: unknown;
      try {
        parseReachLock(text, FILE);
      } catch (error) {
        code = errorCodeOf(error);
      }
      expect(code).toBe('CONFIG_INVALID');
    }
  });
});

describe('compareReachLocks', () => {
  const server = { server: 'files', reached: ['npx', 'files'], names: ['KEY'], pin: 'p' };
  const served = (more: Partial<typeof server>) => lock([], { servers: [{ ...server, ...more }] });

  it.each<[string, ReachLock, string[]]>([
    ['the same', served({}), []],
    [
      'another command',
      served({ reached: ['npx', 'other'], pin: 'q' }),
      ['widened files was reached by npx files before, and is now reached by npx other'],
    ],
    [
      'another variable',
      served({ names: ['KEY', 'X'], pin: 'q' }),
      ['widened files has other variables, headers or texts of them: KEY, X'],
    ],
    [
      'another text of a variable',
      served({ pin: 'q' }),
      ['widened files has other variables, headers or texts of them: KEY'],
    ],
    ['another name', served({ server: 'docs' }), ['text docs was named files']],
    [
      'another name and command',
      served({ server: 'docs', pin: 'q' }),
      ['narrowed files is not there any more', 'widened docs is new: npx files'],
    ],
    ['none', lock([]), ['narrowed files is not there any more']],
  ])('tells a server with %s', (_, after, changes) => {
    expect(
      compareReachLocks(served({}), after).map(
        ({ kind, server: name, message }) => `${kind} ${name} ${message}`,
      ),
    ).toEqual(changes);
  });

  it('tells a server with other borders between the same words, and other names alone', () => {
    for (const more of [{ reached: ['npx files'] }, { names: ['KEY', 'X'] }]) {
      expect(compareReachLocks(served({}), served(more))).toMatchObject([{ kind: 'widened' }]);
    }
  });

  it.each<[string, Partial<LockedPersonality>]>([
    ['a yes that answers for sub-agents', { approvals: { grants: [], sub_agents: 'inherit' } }],
    ['a server that is started', { servers: ['files'] }],
    ['a tool beside another', { tools: [tool('t', { approval: 'always' }), tool('new')] }],
    ['a tool that asks by the call', { tools: [tool('t', { approval: 'by-call' })] }],
    [
      'a source that is trusted',
      { untrusted: { write: 'ask', send: 'ask', spawn: 'ask', trust: ['web'] } },
    ],
    ...(['write', 'send', 'spawn'] as const).map((effect): [string, Partial<LockedPersonality>] => [
      `${effect} that nobody is asked for`,
      { untrusted: { write: 'ask', send: 'ask', spawn: 'ask', trust: [], [effect]: 'allow' } },
    ]),
  ])('tells %s as widened, and the way back as narrowed', (_, more) => {
    const before = lock([tool('t', { approval: 'always' })]);
    const after = {
      ...before,
      personalities: before.personalities.map((each) => ({ ...each, ...more })),
    };
    expect(compareReachLocks(before, after)).toMatchObject([{ kind: 'widened' }]);
    expect(compareReachLocks(after, before)).toMatchObject([{ kind: 'narrowed' }]);
  });

  it('takes no tool of a server for a renamed one that says other arguments', () => {
    const one = (name: string, schema: string) =>
      lock([tool(name)], { texts: [{ tool: name, description: 'd', schema }] });
    const kinds = (before: ReachLock, after: ReachLock) =>
      compareReachLocks(before, after).map(({ kind }) => kind);
    const old = one('mcp__s__t', '{}');
    expect(kinds(old, one('mcp__r__t', '{"a":1}'))).toEqual(['narrowed', 'widened']);
    expect(kinds(old, one('mcp__s__u', '{}'))).toEqual(['narrowed', 'widened']);
  });

  it('follows the tools of a server that is renamed, and its secrets, which are other ones', () => {
    const with_ = (name: string) => ({
      ...lock([tool(`mcp__${name}__read`, { grant: { secrets: [`mcp/${name}/KEY`] } })], {
        servers: [{ ...server, server: name }],
        texts: [{ tool: `mcp__${name}__read`, description: 'Reads.', schema: '{}' }],
      }),
    });
    expect(
      compareReachLocks(with_('files'), with_('docs')).map(
        ({ kind, message }) => `${kind} ${message}`,
      ),
    ).toEqual([
      'text was named files',
      'widened gains the value of the secret mcp/docs/KEY',
      'narrowed loses the value of the secret mcp/files/KEY',
      'text was named mcp__files__read',
    ]);
  });

  it('takes no tool for a renamed one where two could be meant', () => {
    const texts = (names: string[]) => names.map((name) => ({ tool: name, description: 'Same.' }));
    const before = lock([tool('a'), tool('b')], { texts: texts(['a', 'b']) });
    const after = lock([tool('c')], { texts: texts(['c']) });
    expect(compareReachLocks(before, after).map(({ kind }) => kind)).toEqual([
      'narrowed',
      'narrowed',
      'widened',
    ]);
  });

  it('tells a store that is another one under the new name of its tool', () => {
    const one = (name: string) =>
      lock([tool(name, { grant: { storage: { scope: 'tool-private' } } })], {
        texts: [{ tool: name, description: 'Keeps.' }],
      });
    expect(
      compareReachLocks(one('a'), one('b')).map(({ kind, message }) => `${kind} ${message}`),
    ).toEqual([
      'text was named a',
      'widened gains the store of its new name',
      'narrowed loses the store of its old name',
    ]);
  });

  it('tells a changed schema as text', () => {
    const one = (schema: string) =>
      lock([], { texts: [{ tool: 'mcp__s__t', description: 'd', schema }] });
    expect(compareReachLocks(one('{}'), one('{"a":1}'))).toEqual([
      { kind: 'text', tool: 'mcp__s__t', message: 'takes other arguments' },
    ]);
  });
});
