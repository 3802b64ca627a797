import {
  errorCodeOf,
  type MessageRole,
  type NewSessionMessage,
  type SessionOwner,
  type SessionStore,
} from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzz } from './fuzz.js';
import { HOSTILE_IDS, HOSTILE_QUERIES } from './hostile-ids.js';

/** A session store to test. */
export interface SessionsUnderTest {
  sessions: SessionStore;
  /** Closes the store. */
  close?: () => void | Promise<void>;
}

const user = (text: string, createdAt?: number): NewSessionMessage => ({
  role: 'user',
  text,
  ...(createdAt !== undefined && { createdAt }),
});

/**
 * Registers tests that a session store keeps the contract of `SessionStore`: messages in their
 * order, separate owners, and a search that finds messages with the words of a query and treats
 * every query as plain words. Call it in a test file.
 *
 * @param name the name of the store, for the names of the tests
 * @param create creates an empty store that reads the time, in milliseconds, from `clock`
 */
export function sessionConformance(
  name: string,
  create: (options: { clock: () => number }) => SessionsUnderTest | Promise<SessionsUnderTest>,
): void {
  describe(`${name} as a SessionStore`, () => {
    let now = 1_700_000_000_000;
    let count = 0;
    let subject: SessionsUnderTest;
    let store: SessionStore;

    beforeAll(async () => {
      subject = await create({ clock: () => now });
      store = subject.sessions;
    });
    afterAll(() => subject.close?.());

    /** An owner and a session id that no other test uses. */
    const fresh = () => {
      count += 1;
      return { id: `suite-session-${count}`, scopeId: `suite:${count}` };
    };
    const ownerOf = ({ scopeId }: { scopeId: string }): SessionOwner => ({ scopeId });
    const codeOf = (call: Promise<unknown>) => call.then(() => 'done', errorCodeOf);
    const textsOf = async (query: string, opts: Parameters<SessionStore['search']>[1]) =>
      (await store.search(query, opts)).map(({ message }) => message.text).sort();

    /** Returns the methods for claims; `undefined` if the store can't hold sessions. */
    const claimsOf = () => {
      const { claim, renew, release } = store;
      if (claim === undefined || renew === undefined || release === undefined) return undefined;
      return {
        claim: claim.bind(store),
        renew: renew.bind(store),
        release: release.bind(store),
      };
    };

    describe('claim', () => {
      it('is for one owner at once, with a greater epoch each time', async () => {
        const claims = claimsOf();
        if (claims === undefined) return;
        const session = fresh();
        const taken = await Promise.all(
          Array.from({ length: 5 }, () => claims.claim(session, { leaseMs: 1_000 })),
        );
        const [first, ...others] = taken.filter((claim) => claim !== null);
        expect(others).toEqual([]);
        expect(first).toMatchObject({ sessionId: session.id });
        now += 999;
        expect(await claims.claim(session, { leaseMs: 1_000 })).toBeNull();
        now += 1;
        const second = await claims.claim(session, { leaseMs: 1_000 });
        expect(second?.epoch).toBeGreaterThan(first?.epoch ?? Number.POSITIVE_INFINITY);
        await store.append(session, [user('a')], { epoch: second?.epoch ?? 0 });
        await store.delete(session.id);
        const third = await claims.claim(session, { leaseMs: 1_000 });
        expect(third?.epoch).toBeGreaterThan(second?.epoch ?? Number.POSITIVE_INFINITY);
      });

      it('of a session without a message makes none that is listed', async () => {
        const claims = claimsOf();
        if (claims === undefined) return;
        const session = fresh();
        await claims.claim(session, { leaseMs: 1_000 });
        expect(await store.get(session.id)).toBeNull();
        expect(await store.list({ owner: ownerOf(session) })).toEqual([]);
        expect(await store.delete(session.id)).toBe(false);
        const claim = await claims.claim(session, { leaseMs: 1_000 });
        const early = now - 100;
        await store.append(session, [user('a', early)], {
          epoch: claim?.epoch ?? 0,
          afterSequence: 0,
        });
        expect(await store.get(session.id)).toMatchObject({
          startedAt: early,
          lastMessageAt: early,
          messageCount: 1,
        });
      });

      it('is not for another owner of the session', async () => {
        const claims = claimsOf();
        if (claims === undefined) return;
        const session = fresh();
        await store.append(session, [user('a')]);
        const call = claims.claim({ ...session, scopeId: 'other' }, { leaseMs: 1_000 });
        expect(await codeOf(call)).toBe('SESSION_OWNER_MISMATCH');
        expect(await claims.claim(session, { leaseMs: 1_000 })).not.toBeNull();
      });

      it('lets nobody else append, but asides', async () => {
        const claims = claimsOf();
        if (claims === undefined) return;
        const session = fresh();
        const late = await claims.claim(session, { leaseMs: 1_000 });
        now += 1_000;
        const append = (opts: Parameters<SessionStore['append']>[2]) =>
          codeOf(store.append(session, [user('a')], opts));
        // Nobody has taken the session, but the lease has ended.
        expect(await append({ epoch: late?.epoch ?? 0 })).toBe('SESSION_TAKEN');
        const live = await claims.claim(session, { leaseMs: 1_000 });
        expect(await append({ epoch: late?.epoch ?? 0 })).toBe('SESSION_TAKEN');
        expect(await append({ epoch: late?.epoch ?? 0, aside: true })).toBe('SESSION_TAKEN');
        expect(await append({ epoch: 0 })).toBe('SESSION_TAKEN');
        expect(await append({})).toBe('SESSION_TAKEN');
        expect(await append({ afterSequence: 0 })).toBe('SESSION_TAKEN');
        expect(await store.messages(session.id)).toEqual([]);
        expect(await append({ epoch: live?.epoch ?? 0, afterSequence: 0 })).toBe('done');
        expect(await append({ aside: true, afterSequence: 1 })).toBe('done');
        now += 1_000;
        expect(await append({ afterSequence: 2 })).toBe('done');
        expect(await store.messages(session.id)).toHaveLength(3);
      });

      it('ends when it is released, and is renewed only while it holds', async () => {
        const claims = claimsOf();
        if (claims === undefined) return;
        const [one, other] = [fresh(), fresh()];
        const a = await claims.claim(one, { leaseMs: 1_000 });
        const b = await claims.claim(other, { leaseMs: 1_000 });
        if (a === null || b === null) throw new Error('there is a claim already');
        const stale = { ...b, epoch: b.epoch - 1 };
        now += 900;
        const held = await claims.renew([a, b, stale], { leaseMs: 1_000 });
        expect(held.sort((x, y) => x.epoch - y.epoch)).toEqual([a, b]);
        now += 900;
        expect(await claims.claim(one, { leaseMs: 1_000 })).toBeNull();
        await claims.release(stale);
        expect(await claims.renew([b], { leaseMs: 1_000 })).toEqual([b]);
        await claims.release(a);
        expect(await claims.renew([a], { leaseMs: 1_000 })).toEqual([]);
        expect(await codeOf(store.append(one, [user('x')], { epoch: a.epoch }))).toBe(
          'SESSION_TAKEN',
        );
        expect(await claims.claim(one, { leaseMs: 1_000 })).not.toBeNull();
        now += 1_000;
        expect(await claims.renew([b], { leaseMs: 1_000 })).toEqual([]);
        for (const leaseMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          expect(await codeOf(claims.claim(other, { leaseMs }))).toBe('VALUE_INVALID');
        }
      });
    });

    describe('append', () => {
      it('of several writers that saw the same last message, lets one go first', async () => {
        const session = fresh();
        const race = (afterSequence: number) =>
          Promise.all(
            ['a', 'b', 'c'].map((text) =>
              codeOf(store.append(session, [user(text), user(text)], { afterSequence })),
            ),
          );
        expect((await race(0)).sort()).toEqual(['SESSION_CHANGED', 'SESSION_CHANGED', 'done']);
        expect((await race(2)).sort()).toEqual(['SESSION_CHANGED', 'SESSION_CHANGED', 'done']);
        for (const afterSequence of [0, 1, 2, 3, 5, -1, 4.5, Number.NaN]) {
          const call = store.append(session, [user('late')], { afterSequence });
          expect(await codeOf(call), `${afterSequence}`).toBe('SESSION_CHANGED');
        }
        expect(await store.messages(session.id)).toHaveLength(4);
      });

      it('numbers the messages and keeps all of them', async () => {
        const session = { ...fresh(), key: 'cli:repo', personalityId: 'researcher' };
        const messages: NewSessionMessage[] = [
          { role: 'system', text: '' },
          { role: 'user', text: 'żółć 😀\r\n\0', createdAt: now - 5_000 },
          { role: 'tool', text: 'out', toolName: 'terminal', data: { a: [1, null, 'x'] } },
        ];
        const stored = await store.append(session, messages);
        expect(stored).toEqual(
          messages.map((message, index) => ({
            createdAt: now,
            ...message,
            sessionId: session.id,
            sequence: index + 1,
          })),
        );
        expect(await store.messages(session.id)).toEqual(stored);
        const [last] = await store.append(session, [user('again')]);
        expect(last?.sequence).toBe(4);
        expect(await store.get(session.id)).toEqual({
          ...session,
          startedAt: now - 5_000,
          lastMessageAt: now,
          messageCount: 4,
        });
      });

      it('of nothing stores nothing', async () => {
        const session = fresh();
        expect(await store.append(session, [])).toEqual([]);
        expect(await store.get(session.id)).toBeNull();
      });

      it('is all or nothing', async () => {
        const session = fresh();
        const broken = { role: 'user', text: 'b', data: 1n } as const;
        expect(await codeOf(store.append(session, [user('a'), broken]))).toBe('VALUE_INVALID');
        expect(await store.get(session.id)).toBeNull();
        expect(await store.messages(session.id)).toEqual([]);
      });

      it('at once from many sides gives each message a place of its own', async () => {
        const session = fresh();
        const stored = await Promise.all(
          Array.from({ length: 50 }, (_, i) => store.append(session, [user(`${i}`), user(`${i}`)])),
        );
        const places = stored.flat().map(({ sequence }) => sequence);
        expect(places.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
        for (const [first, second] of stored) {
          expect(second?.sequence).toBe((first?.sequence ?? 0) + 1);
        }
      });

      it.each<[string, SessionOwner, SessionOwner]>([
        ['scope', { scopeId: 'a' }, { scopeId: 'A' }],
        ['user', { scopeId: 'a' }, { scopeId: 'a', userScopeId: 'u' }],
        ['empty user', { scopeId: 'a' }, { scopeId: 'a', userScopeId: '' }],
        ['team', { scopeId: 'a', teamId: 't' }, { scopeId: 'a', userScopeId: 't' }],
      ])('to a session of another %s is SESSION_OWNER_MISMATCH', async (_, owner, other) => {
        const { id } = fresh();
        await store.append({ id, ...owner }, [user('mine')]);
        const call = store.append({ id, ...other }, [user('theirs')]);
        expect(await codeOf(call)).toBe('SESSION_OWNER_MISMATCH');
        expect(await store.messages(id)).toHaveLength(1);
        expect(await store.get(id)).toMatchObject(owner);
      });

      it('makes lone surrogates well-formed', async () => {
        const session = fresh();
        await store.append(session, [user('a\ud800b')]);
        expect(await store.messages(session.id)).toMatchObject([{ text: 'a\ufffdb' }]);
      });
    });

    describe('messages', () => {
      it('go on after a place, and hold to a limit', async () => {
        const session = fresh();
        await store.append(
          session,
          ['a', 'b', 'c', 'd'].map((text) => user(text)),
        );
        const page = await store.messages(session.id, { afterSequence: 1, limit: 2 });
        expect(page.map(({ text }) => text)).toEqual(['b', 'c']);
        expect(await store.messages(session.id, { afterSequence: 4 })).toEqual([]);
      });

      it('are cut, and without data, where only their beginnings are wanted', async () => {
        const session = fresh();
        const texts = [
          'short',
          `a\u0000${'b'.repeat(50_000)}`,
          `ab😀${'c'.repeat(10)}`,
          '😀é€😀',
          '',
        ];
        await store.append(
          session,
          texts.map((text) => ({ ...user(text), data: { more: 'x' } })),
        );
        const cut = await store.messages(session.id, { maxTextChars: 3, limit: 4 });
        expect(cut.map(({ text }) => text)).toEqual(['sho', 'a\u0000b', 'ab', '😀é']);
        expect(cut.every((message) => message.data === undefined)).toBe(true);
      });

      it('of a session that there is not are none', async () => {
        expect(await store.messages(fresh().id)).toEqual([]);
        expect(await store.get(fresh().id)).toBeNull();
        expect(await store.delete(fresh().id)).toBe(false);
      });
    });

    describe('list', () => {
      it('gives the sessions of an owner, the most recent first', async () => {
        const { scopeId } = fresh();
        for (const [id, at] of [
          ['one', 1_000],
          ['two', 3_000],
          ['three', 2_000],
        ] as const) {
          await store.append({ id: `${scopeId}${id}`, scopeId }, [user('x', at)]);
        }
        const ids = async (opts: object) =>
          (await store.list({ owner: { scopeId }, ...opts })).map(({ id }) =>
            id.slice(scopeId.length),
          );
        expect(await ids({})).toEqual(['two', 'three', 'one']);
        expect(await ids({ limit: 1 })).toEqual(['two']);
        expect(await ids({ since: 2_000 })).toEqual(['two', 'three']);
        expect(await ids({ since: 1_000, until: 2_000 })).toEqual(['one']);
        expect((await store.list()).length).toBeGreaterThanOrEqual(3);
      });

      it('by time looks at the messages, not at the ends of a session', async () => {
        const session = fresh();
        await store.append(session, [user('a', 1_000), user('b', 9_000)]);
        const owner = ownerOf(session);
        expect(await store.list({ owner, since: 2_000, until: 8_000 })).toEqual([]);
        expect(await store.list({ owner, since: 9_000, until: 9_001 })).toHaveLength(1);
      });
    });

    describe('owners', () => {
      const owners: SessionOwner[] = [
        { scopeId: 'shared' },
        { scopeId: 'Shared' },
        { scopeId: 'shared ' },
        { scopeId: 'shared', userScopeId: 'u' },
        { scopeId: 'shared', userScopeId: '' },
        { scopeId: 'shared', teamId: 'u' },
        { scopeId: 'shared', userScopeId: 'u', teamId: 't' },
        ...HOSTILE_IDS.map((scopeId) => ({ scopeId: `shared:${scopeId}` })),
        ...HOSTILE_IDS.map((userScopeId) => ({ scopeId: 'by-user', userScopeId })),
      ];

      it('see their own sessions and no others, whatever their ids are', async () => {
        for (const [index, owner] of owners.entries()) {
          await store.append({ id: `owned-${index}`, ...owner }, [user(`secretword ${index}`)]);
        }
        for (const [index, owner] of owners.entries()) {
          const found = await store.search('secretword', { owner });
          expect(found.map(({ session }) => session.id)).toEqual([`owned-${index}`]);
          expect(found[0]?.session).toMatchObject(owner);
          const listed = await store.list({ owner });
          expect(listed.map(({ id }) => id)).toEqual([`owned-${index}`]);
          const other = `owned-${(index + 1) % owners.length}`;
          expect(await store.search('secretword', { owner, sessionId: other })).toEqual([]);
        }
        expect(await store.search('secretword', { owner: { scopeId: 'unknown' } })).toEqual([]);
      });

      it('and sessions may have any id', async () => {
        for (const [index, id] of HOSTILE_IDS.entries()) {
          await store.append({ id, scopeId: 'any-id' }, [user(`anyid ${index}`)]);
        }
        for (const [index, id] of HOSTILE_IDS.entries()) {
          expect(await store.messages(id)).toMatchObject([{ text: `anyid ${index}` }]);
          const found = await store.search('anyid', { sessionId: id });
          expect(found).toMatchObject([{ session: { id }, message: { text: `anyid ${index}` } }]);
        }
      });

      it.each(['\ud800', 'a\udc00'])(
        'of the id %j, which no store keeps, are KEY_INVALID',
        async (id) => {
          const message = [user('x')];
          for (const call of [
            store.append({ id, scopeId: 'a' }, message),
            store.append({ id: fresh().id, scopeId: id }, message),
            store.append({ id: fresh().id, scopeId: 'a', userScopeId: id }, message),
            store.get(id),
            store.messages(id),
            store.delete(id),
            store.list({ owner: { scopeId: id } }),
            store.search('x', { owner: { scopeId: id } }),
            store.search('x', { sessionId: id }),
          ]) {
            expect(await codeOf(call)).toBe('KEY_INVALID');
          }
        },
      );
    });

    describe('search', () => {
      it.each<[string, string, boolean]>([
        ['coffee', 'Coffee, black.', true],
        ['COFFEE', 'coffee', true],
        ['coffee', 'coffees', true],
        ['"coffee"', 'coffees', false],
        ['coffees', 'coffee', true],
        ['the migrated table', 'We migrate tables.', true],
        ['how do I brew it', 'how do I do it', false],
        ['what is the coffee like', 'Coffee.', true],
        ["the kettle's lid", 'A kettle has a lid.', true],
        ['text chars', 'set maxTextChars to 5', true],
        ['maxTextChars', 'set maxTextChars to 5', true],
        ['text_chars', 'set maxTextChars to 5', false],
        ['cof', 'coffee', false],
        ['cafe', 'Le café', true],
        ['café', 'cafe\u0301', true],
        ['łodz', 'Łódź', true],
        ['straße', 'Straße', true],
        ['σοφος', 'ΣΟΦΌΣ', true],
        ['привет', 'ПРИВЕТ, мир', true],
        ['東京', '私は東京都に住む', true],
        ['京東', '私は東京都に住む', false],
        ['한국', '한국 사람', true],
        ['42', 'The answer is 42.', true],
        ['max_tokens', 'set max_tokens=5', true],
        ['max_tokens', 'tokens max', false],
        ['foo.bar()', 'call foo.bar(1)', true],
        ['"black coffee"', 'black coffee', true],
        ['"black coffee"', 'coffee, black', false],
        ['"black coffee" sugar', 'sugar in black coffee', true],
        ['black coffee', 'coffee, black', true],
        ['🙂', '🙂', false],
        ['and', 'this and that', true],
        ['near', 'near here', true],
      ])('by %j of %j is %j', async (query, text, isFound) => {
        const session = fresh();
        await store.append(session, [user(text)]);
        expect(await textsOf(query, { owner: ownerOf(session) })).toEqual(isFound ? [text] : []);
      });

      it('finds what has all the words, then what has some', async () => {
        const session = fresh();
        const owner = ownerOf(session);
        const often = 'blue fish, blue fish, fish';
        await store.append(
          session,
          ['the fish that they saw was red', often, 'red bird', 'a whale'].map((text) =>
            user(text),
          ),
        );
        const found = async (query: string, opts = {}) =>
          (await store.search(query, { owner, ...opts })).map(({ message }) => message.sequence);
        const [first, ...others] = await found('red fish');
        expect([first, others.sort()]).toEqual([1, [2, 3]]);
        expect((await found('blue bird')).sort()).toEqual([2, 3]);
        expect(await found('blue dog')).toEqual([2]);
        const pages = [0, 1, 2, 3].map((offset) => found('red fish', { limit: 1, offset }));
        expect((await Promise.all(pages)).flat()).toEqual(await found('red fish'));
      });

      it('puts what has more of the words before what has one of them often', async () => {
        const session = fresh();
        const texts = ['pump pump pump pump', 'pump and valve', 'valve', 'a boiler'];
        await store.append(
          session,
          texts.map((text) => user(text)),
        );
        const found = await store.search('pump valve gasket', { owner: ownerOf(session) });
        expect(found[0]?.message.text).toBe('pump and valve');
      });

      it('puts a word as it was asked for before its other forms, and marks all of them', async () => {
        const session = fresh();
        const texts = ['they plan it', 'they planned it', 'they plans it', 'planted'];
        await store.append(
          session,
          texts.map((text) => user(text)),
        );
        for (const query of ['plan', 'planned', 'plans']) {
          const found = await store.search(query, { owner: ownerOf(session) });
          expect(found[0]?.snippet).toBe(`they [${query}] it`);
          expect(found.map(({ snippet }) => snippet).sort()).toEqual([
            'they [plan] it',
            'they [planned] it',
            'they [plans] it',
          ]);
        }
      });

      it('puts what is new before what is old and as good, and not before what is better', async () => {
        const session = fresh();
        const year = 365 * 86_400_000;
        await store.append(session, [
          user('we chose the blue door', now),
          user('we chose the blue door', now - year),
          user('blue and much else that was said of other things at length on that day', now),
        ]);
        const found = await store.search('blue door', { owner: ownerOf(session) });
        expect(found.map(({ message }) => message.sequence)).toEqual([1, 2, 3]);
      });

      it('puts the better match first, and of equals the later', async () => {
        const session = fresh();
        const texts = ['fish and a lot of other words that nobody asked for', 'fish', 'fish fish'];
        await store.append(
          session,
          [...texts, 'fish'].map((text) => user(text)),
        );
        const found = await store.search('fish', { owner: ownerOf(session) });
        expect(found.map(({ message }) => message.sequence)).toEqual([3, 4, 2, 1]);
        const scores = found.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(found[0]).toMatchObject({
          session: { ...session, messageCount: 4 },
          snippet: '[fish] [fish]',
        });
      });

      it('holds to time, roles, limit and offset', async () => {
        const session = fresh();
        const owner = ownerOf(session);
        const roles: MessageRole[] = ['system', 'user', 'assistant', 'tool'];
        await store.append(
          session,
          roles.map((role, index) => ({ role, text: `word ${role}`, createdAt: index * 1_000 })),
        );
        const found = (opts: object) => textsOf('word', { owner, ...opts });
        expect(await found({ since: 1_000, until: 3_000 })).toEqual([
          'word assistant',
          'word user',
        ]);
        expect(await found({ until: 1_000 })).toEqual(['word system']);
        expect(await found({ roles: ['tool', 'user'] })).toEqual(['word tool', 'word user']);
        expect(await found({ roles: [] })).toEqual([]);
        expect(await found({ limit: 0 })).toEqual([]);
        const pages = [0, 2, 4].map((offset) => found({ limit: 2, offset }));
        const all = await Promise.all(pages);
        expect(all.map(({ length }) => length)).toEqual([2, 2, 0]);
        expect(all.flat().sort()).toEqual(roles.map((role) => `word ${role}`).sort());
      });

      it('gives a part of a long text, with what was found', async () => {
        const session = fresh();
        const text = `${'before '.repeat(20_000)}needle ${'after '.repeat(20_000)}`;
        await store.append(session, [user(text)]);
        const [match] = await store.search('needle', { owner: ownerOf(session) });
        expect(match?.snippet).toContain('before [needle] after');
        expect(match?.snippet.length).toBeLessThan(500);
      });

      it('finds nothing of a session that was deleted', async () => {
        const [session, other] = [fresh(), fresh()];
        for (const each of [session, other]) {
          await store.append({ ...each, scopeId: 'deleting' }, [user('goneword')]);
        }
        expect(await store.delete(session.id)).toBe(true);
        const found = await store.search('goneword');
        expect(found.map((match) => match.session.id)).toEqual([other.id]);
        expect(await store.get(session.id)).toBeNull();
        expect(await store.messages(session.id)).toEqual([]);
        await store.append({ ...session, scopeId: 'another' }, [user('new')]);
        expect(await store.search('goneword', { sessionId: session.id })).toEqual([]);
        // A new message may get the place of a removed one in the store. It must not get its words.
        await store.delete(other.id);
        await store.append(fresh(), [user('new'), user('newer')]);
        expect(await store.search('goneword')).toEqual([]);
      });

      it.each(HOSTILE_QUERIES)('takes no part of %j for an operator', async (query) => {
        const session = fresh();
        await store.append(session, [user('nothing that fits')]);
        expect(await store.search(query, { owner: ownerOf(session) })).toEqual([]);
      });

      it.each([{ limit: -1 }, { limit: 1.5 }, { offset: -1 }, { since: Number.NaN }])(
        'with %j is VALUE_INVALID',
        async (opts) => {
          expect(await codeOf(store.search('x', opts))).toBe('VALUE_INVALID');
        },
      );

      const word = fc.constantFrom('tea', 'TEA', 'thé', 'the', 'milk', 'tea2', '茶', 'ещё', 'a_b');
      const text = fc
        .array(fc.tuple(word, fc.constantFrom(' ', ', ', '\n', '-', '" ', ' AND ')), {
          maxLength: 6,
        })
        .map((parts) => parts.flat().join(''));
      const plain = (each: string) =>
        each
          .normalize('NFD')
          .replace(/\p{Mn}/gu, '')
          .toLowerCase();
      /** Returns the words as a person sees them, found without an index. */
      const wordsOf = (each: string): readonly string[] =>
        plain(each).match(/\p{Script=Han}|[a-z0-9а-я]+/gu) ?? [];

      fuzz(
        'finds by a word what a look at every message finds',
        fc.tuple(
          fc.array(fc.tuple(text, fc.boolean()), { maxLength: 12 }),
          fc.constantFrom('tea', 'Thé', 'milk', 'tea2', '茶', 'ЕЩЁ', 'absent', 'and'),
        ),
        async ([messages, query]) => {
          const mine = fresh();
          const theirs = fresh();
          for (const [content, isMine] of messages) {
            await store.append(isMine ? mine : theirs, [user(content)]);
          }
          const expected = messages
            .filter(([content, isMine]) => isMine && wordsOf(content).includes(plain(query)))
            .map(([content]) => content);
          expect(await textsOf(query, { owner: ownerOf(mine), limit: 100 })).toEqual(
            expected.sort(),
          );
        },
        { promised: 'key-value', runs: { check: 20, long: 10_000 } },
      );

      fuzz(
        'never fails, whatever is asked',
        fc.tuple(fc.string({ unit: 'binary' }), fc.string()),
        async ([binary, ascii]) => {
          for (const query of [binary, ascii, `"${ascii}"`, `${ascii} ${binary}`]) {
            expect(await codeOf(store.search(query, { owner: { scopeId: 'shared' } }))).toBe(
              'done',
            );
          }
        },
        { runs: { check: 40, long: 50_000 } },
      );
    });

    it('takes the time of a message without one from the clock', async () => {
      const session = fresh();
      now += 60_000;
      const [message] = await store.append(session, [user('x')]);
      expect(message?.createdAt).toBe(now);
    });
  });
}
