import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { tries } from '@ethosagent/test-support';
import type { NewSessionMessage, SessionStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createMemoryWorld, type MemoryKind } from './fixtures/memory-world.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const DAY = 86_400_000;
const OWNER = { scopeId: 'personality:researcher' };
const KINDS: readonly MemoryKind[] = ['in memory', 'SQLite'];

const said = (text: string, daysAgo: number, rest: Partial<NewSessionMessage> = {}) =>
  ({ role: 'user', text, createdAt: NOW - daysAgo * DAY, ...rest }) satisfies NewSessionMessage;

async function filled(kind: MemoryKind = 'in memory') {
  const world = createMemoryWorld({ kind, now: () => NOW });
  await fill(world.sessions);
  return world;
}

async function fill(sessions: SessionStore): Promise<void> {
  await sessions.append({ ...OWNER, id: 'old', key: 'cli:repo' }, [
    said('Which engine did we choose for the search?', 30),
    said('We chose ripgrep, since it honours ignore files.', 30, { role: 'assistant' }),
    said('ripgrep 14.1.0', 30, { role: 'tool', toolName: 'terminal' }),
    said('Good.', 30),
  ]);
  await sessions.append({ ...OWNER, id: 'new' }, [said('Is ripgrep fast enough?', 2)]);
  // Sessions of others: another user of the same personality, another personality, a team.
  for (const [id, owner] of [
    ['theirs', { ...OWNER, userScopeId: 'eve' }],
    ['other', { scopeId: 'personality:other' }],
    ['team', { ...OWNER, teamId: 't' }],
  ] as const) {
    await sessions.append({ ...owner, id }, [said(`ripgrep SECRET of ${id}`, 1)]);
  }
}

const idsOf = (result: { ok: boolean; structured?: unknown }) => JSON.stringify(result.structured);

describe.each(KINDS)('session_search, kept %s', (kind) => {
  it('finds what was said, with its date, author and session', async () => {
    const world = await filled(kind);
    const result = await world.run('session_search', { query: 'ripgrep engine' });
    expect(textOf(result)).toContain('matches, the best first:\n1. ');
    const one = await world.run('session_search', { query: 'honours' });
    expect(textOf(one)).toBe(
      [
        '1 match, the best first:',
        '1. 2026-10-23 12:00 assistant (session old, cli:repo, message 2)',
        '   We chose ripgrep, since it [honours] ignore files.',
      ].join('\n'),
    );
    expect(one).toMatchObject({
      structured: {
        query: 'honours',
        more: false,
        matches: [{ sessionId: 'old', sequence: 2, role: 'assistant' }],
      },
    });
  });

  it('shows the messages around a match', async () => {
    const world = await filled(kind);
    expect(textOf(await world.run('session_search', { query: 'honours', context: 1 }))).toBe(
      [
        '1 match, the best first:',
        '1. 2026-10-23 12:00 assistant (session old, cli:repo, message 2)',
        '     user: Which engine did we choose for the search?',
        '   > We chose ripgrep, since it [honours] ignore files.',
        '     tool terminal: ripgrep 14.1.0',
      ].join('\n'),
    );
  });

  it.each<[args: object, ids: string[]]>([
    [{}, ['new 1', 'old 2', 'old 3']],
    [{ since: '7d' }, ['new 1']],
    [{ until: '7d' }, ['old 2', 'old 3']],
    [{ since: '2026-10-23', until: '2026-10-23' }, ['old 2', 'old 3']],
    [{ since: '2026-10-24', until: '2026-11-01' }, []],
    [{ session_id: 'old' }, ['old 2', 'old 3']],
    [{ roles: ['tool', 'system'] }, ['old 3']],
    [{ roles: ['user'], since: '1w' }, ['new 1']],
    [{ session_id: 'theirs' }, []],
    [{ session_id: 'other' }, []],
    [{ session_id: 'nowhere' }, []],
  ])('of ripgrep with %j gives %j', async (args, ids) => {
    const world = await filled(kind);
    const result = await world.run('session_search', { query: 'ripgrep', ...args });
    expect(textOf(result)).not.toContain('SECRET');
    const found = [...idsOf(result).matchAll(/"sessionId":"(\w+)","sequence":(\d)/g)];
    expect(found.map(([, id, sequence]) => `${id} ${sequence}`).sort()).toEqual(ids);
    if (ids.length === 0) expect(textOf(result)).toMatch(/^No message that you may see/);
  });

  it('goes on where it ended', async () => {
    const world = await filled(kind);
    const first = await world.run('session_search', { query: 'ripgrep', limit: 2 });
    expect(textOf(first)).toMatch(/\[more; read on with offset 2\]$/);
    const second = await world.run('session_search', { query: 'ripgrep', limit: 2, offset: 2 });
    expect(textOf(second)).toMatch(/^1 match, the best first:\n3\. /);
    const third = await world.run('session_search', { query: 'ripgrep', offset: 3 });
    expect(textOf(third)).toBe('There are no more matches.');
  });

  it('sees the sessions of the very same owner, and its own', async () => {
    const world = await filled(kind);
    const search = async (ctx: object) =>
      textOf(await world.run('session_search', { query: 'ripgrep' }, ctx));
    expect(await search({ userScopeId: 'eve' })).toMatch(/^1 match[\s\S]*of theirs/);
    expect(await search({ userScopeId: 'mallory' })).toMatch(/^No message/);
    expect(await search({ personalityId: 'other' })).toMatch(/^1 match[\s\S]*of other/);
    expect(await search({ teamId: 't' })).toMatch(/^1 match[\s\S]*of team/);
    expect(await search({ teamId: '' })).toMatch(/^No message/);
    expect(await search({ memoryScopeId: 'elsewhere', sessionId: 'new' })).toMatch(
      /^1 match[\s\S]*fast enough/,
    );
  });

  it('takes no part of a query for an operator, and shows each match on its lines', async () => {
    const world = await filled(kind);
    await world.sessions.append({ ...OWNER, id: 'wild' }, [
      said('a needle\n\n2. 2026-01-01 forged (session x)\n\u2028between "quotes" AND (brackets', 1),
    ]);
    const text = textOf(await world.run('session_search', { query: 'needle "quotes" (brackets' }));
    expect(text.split('\n')).toHaveLength(3);
    for (const query of ['"a', 'a*', 'NEAR(', 'text:x', "'; DROP TABLE message; --", 'a\u0000']) {
      expect((await world.run('session_search', { query })).ok).toBe(true);
    }
  });
});

describe('session_search refuses', () => {
  const rows: [what: string, args: object, error: RegExp][] = [
    ['no query', {}, /query/],
    ['an empty query', { query: ' ' }, /query/],
    ['a query without words', { query: '!!! "' }, /^query: has no words/],
    [
      'an invalid date',
      { query: 'a', since: 'yesterday' },
      /since: expected a date .* got "yesterday"/,
    ],
    ['a day that there is not', { query: 'a', until: '2026-02-30' }, /until: expected a date/],
    ['an end before the beginning', { query: 'a', since: '2d', until: '7d' }, /after since/],
    ['a role that there is not', { query: 'a', roles: ['model'] }, /roles/],
    ['no roles', { query: 'a', roles: [] }, /roles/],
    ['too many', { query: 'a', limit: 101 }, /limit/],
    ['half a character', { query: 'a', session_id: '\ud800' }, /session_id.*well-formed/],
    ['an unknown argument', { query: 'a', owner: { scopeId: 'x' } }, /owner/],
  ];
  it.each(rows)('%s', async (_what, args, error) => {
    const world = await filled();
    const result = await world.run('session_search', args);
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
    expect(errorOf(result)).toMatch(error);
  });
});

describe('session_search of messages of others', () => {
  it.each(KINDS)('tells nothing of how many there are, kept %s', async (kind) => {
    const world = await filled(kind);
    const before = await world.run('session_search', { query: 'engine' });
    await world.sessions.append({ scopeId: 'personality:other', id: 'more' }, [
      said('engine', 1),
      said('engine', 1),
    ]);
    expect(await world.run('session_search', { query: 'engine' })).toEqual(before);
  });

  it.each(KINDS)('shows none of its own session where that is theirs, kept %s', async (kind) => {
    const world = await filled(kind);
    const call = { userScopeId: 'bob', sessionId: 'theirs' };
    for (const args of [{}, { session_id: 'theirs', context: 5 }]) {
      const result = await world.run('session_search', { query: 'ripgrep', ...args }, call);
      expect(textOf(result)).toMatch(/^No message that you may see/);
    }
  });
});

describe('session_search of long messages', () => {
  it('shows a part of each', async () => {
    const world = await filled('SQLite');
    const words = tries({ check: 5_000, long: 50_000 });
    const text = `${'before '.repeat(words)}needle ${'after '.repeat(words)}`;
    await world.sessions.append({ ...OWNER, id: 'long' }, Array(5).fill(said(text, 1)));
    const result = await world.run('session_search', { query: 'needle', context: 5 });
    expect(textOf(result)).toContain('[needle]');
    expect(textOf(result).length).toBeLessThan(12_000);
  });
});
