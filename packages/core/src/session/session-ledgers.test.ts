import { EthosError, errorCodeOf, type SessionStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { createInMemorySessionStore } from '../in-memory-sessions.js';
import { isTaskJournal, taskJournalId } from './ledger-ids.js';
import { SessionLedgers } from './session-ledgers.js';

const SOURCE = { source: 'https://e.x/', tool: 'fetch_page' };
const user = { role: 'user', text: 'hi' } as const;
const s = { id: 's', scopeId: 'personality:p' };
const LEDGER = 'protections of session s';

/** A store that holds a session which has read untrusted content. */
async function world() {
  const store = createInMemorySessionStore();
  const ledgers = new SessionLedgers(store);
  await store.append(s, [user]);
  await ledgers.ofSession('s', {}).addSources([SOURCE]);
  return { store, ledgers };
}
const isTainted = async (store: SessionStore, id = 's') => {
  const ledger = new SessionLedgers(store).ofSession(id, {});
  await ledger.refresh();
  return ledger.isTainted;
};
const codeOf = (promise: Promise<unknown>) => promise.then(() => undefined, errorCodeOf);

describe('a session that is deleted', () => {
  it('takes its protections with it, and another one of its id begins without any', async () => {
    const { store, ledgers } = await world();
    expect(await ledgers.sessions().delete('s')).toBe(true);
    expect(await store.list()).toEqual([]);
    const again = ledgers.ofSession('s', {});
    await again.refresh();
    expect(again).toMatchObject({ isTainted: false, sources: [] });
    expect(await ledgers.sessions().delete('s')).toBe(false);
  });

  it('is another one afterwards, also for what has recorded nothing in it', async () => {
    const ledgers = new SessionLedgers(createInMemorySessionStore());
    const ledger = ledgers.ofSession('s', {});
    await ledger.refresh();
    const before = ledger.generation;
    await ledgers.sessions().delete('s');
    expect(ledger.generation).not.toBe(before);
  });

  it('takes its background tasks with it', async () => {
    const { store, ledgers } = await world();
    await store.append({ id: taskJournalId('s'), scopeId: 'personality:p' }, [user]);
    expect(isTaskJournal(taskJournalId('s'))).toBe(true);
    await ledgers.sessions().delete('s');
    expect(await store.list()).toEqual([]);
  });

  it('is there where only its protections are', async () => {
    const store = createInMemorySessionStore();
    const ledgers = new SessionLedgers(store);
    await ledgers.ofSession('s', {}).addSources([SOURCE]);
    expect(await ledgers.sessions().delete('s')).toBe(true);
    expect(await isTainted(store)).toBe(false);
  });

  it('takes its sub-agents with it, also where their lists name it', async () => {
    const { store, ledgers } = await world();
    for (const [of, id] of [
      ['s', 'child'],
      ['child', 's'],
      ['child', 'child'],
    ]) {
      const data = { kind: 'begun', task: { id } };
      await store.append({ id: taskJournalId(of ?? ''), scopeId: 'x' }, [{ ...user, data }]);
    }
    await store.append({ ...s, id: 'child' }, [user]);
    expect(await ledgers.sessions().delete('s')).toBe(true);
    expect(await store.list()).toEqual([]);
  });

  it('leaves those of others alone, whatever they are called', async () => {
    const store = createInMemorySessionStore();
    const ledgers = new SessionLedgers(store);
    const ids = ['s', 's ', 's s', 'session s', 'S', 'ses%20s', '%73', 'protections of x'];
    for (const id of ids) await ledgers.ofSession(id, {}).addSources([SOURCE]);
    await ledgers.ofOwner('s', {}).addSources([SOURCE]);
    await ledgers.sessions().delete('s');
    for (const id of ids) expect(await isTainted(store, id), id).toBe(id !== 's');
    const owner = new SessionLedgers(store).ofOwner('s', {});
    await owner.refresh();
    expect(owner.isTainted).toBe(true);
  });

  it('is never there without its protections, wherever the process ends', async () => {
    for (const at of [1, 2, 3]) {
      const { store } = await world();
      await store.append({ id: 'tasks of s', scopeId: 'personality:p' }, [user]);
      let deletes = 0;
      const dies: SessionStore = Object.create(store, {
        delete: {
          value: async (id: string) => {
            deletes += 1;
            if (deletes === at) throw new Error('the process ends');
            return store.delete(id);
          },
        },
      });
      await expect(new SessionLedgers(dies).sessions().delete('s')).rejects.toThrow();
      expect((await store.get('s')) === null || (await isTainted(store))).toBe(true);
      expect(await isTainted(store)).toBe(true);
      expect(await new SessionLedgers(store).sessions().delete('s')).toBe(true);
      expect(await store.list()).toEqual([]);
    }
  });

  it('takes its key-value store with it before its protections, and those of its sub-agents', async () => {
    const { store, ledgers } = await world();
    const { kvStoreFactory } = createInMemoryKvStore();
    let fails = true;
    const failing: typeof kvStoreFactory = (tool, namespace) => {
      const kv = kvStoreFactory(tool, namespace);
      const dies = async () => {
        throw new Error('the process ends');
      };
      return fails && namespace === 'session:s' ? { ...kv, delete: dies } : kv;
    };
    const data = { kind: 'begun', task: { id: 'child' } };
    await store.append({ id: taskJournalId('s'), scopeId: 'x' }, [{ ...user, data }]);
    await store.append({ ...s, id: 'child' }, [user]);
    for (const id of ['s', 'child', 'other']) {
      for (const each of ['session', 'untrusted:session']) {
        await kvStoreFactory('t', `${each}:${id}`).set('k', 'v');
      }
    }
    const sessions = ledgers.sessions({ kvStoreFactory: failing });
    await expect(sessions.delete('s')).rejects.toThrow();
    expect(await isTainted(store)).toBe(true);
    // What is still in the store is still marked.
    expect(await kvStoreFactory('t', 'untrusted:session:s').list('')).toEqual(['k']);
    fails = false;
    expect(await sessions.delete('s')).toBe(true);
    expect(await isTainted(store)).toBe(false);
    const left = ['s', 'child', 'other'].map(async (id) => [
      await kvStoreFactory('t', `session:${id}`).list(''),
      await kvStoreFactory('t', `untrusted:session:${id}`).list(''),
    ]);
    expect(await Promise.all(left)).toEqual([
      [[], []],
      [[], []],
      [['k'], ['k']],
    ]);
    // One that has nothing but its store was there, too.
    expect(await sessions.delete('other')).toBe(true);
    expect(await sessions.delete('other')).toBe(false);
  });

  it('needs no key-value store that takes its id', async () => {
    const { store, ledgers } = await world();
    const kvStoreFactory = (_: string, namespace: string): never => {
      throw new EthosError('KEY_INVALID', `${namespace} is too long`);
    };
    expect(await ledgers.sessions({ kvStoreFactory }).delete('s')).toBe(true);
    expect(await isTainted(store)).toBe(false);
  });

  it('is what has to be deleted: its protections alone can not be', async () => {
    const { store, ledgers } = await world();
    const sessions = ledgers.sessions();
    expect(await codeOf(sessions.delete(LEDGER))).toBe('VALUE_INVALID');
    expect(await isTainted(store)).toBe(true);
    // A program that removes old sessions goes through the whole list.
    for (const { id } of await sessions.list()) await sessions.delete(id).catch(() => {});
    expect(await store.list()).toEqual([]);
  });
});

describe('the list of untrusted files', () => {
  const FILES = 'protections of files';

  it('is not deleted with old sessions, by itself or as one of all', async () => {
    const { store, ledgers } = await world();
    await ledgers.files.note(['/work/a']);
    const sessions = ledgers.sessions();
    expect(await codeOf(sessions.delete(FILES))).toBe('VALUE_INVALID');
    for (const { id } of await sessions.list()) await sessions.delete(id).catch(() => {});
    expect([...(await new SessionLedgers(store).files.list())]).toEqual(['/work/a']);
  });

  it('is written again by whoever knew it, where somebody deleted it past the runtime', async () => {
    const { store, ledgers } = await world();
    await ledgers.files.note(['/work/a']);
    await store.delete(FILES);
    await ledgers.files.note(['/work/b']);
    expect(new Set(await new SessionLedgers(store).files.list())).toEqual(
      new Set(['/work/a', '/work/b']),
    );
  });
});

describe('a ledger that another process deleted', () => {
  it('is written again by whoever had read, and holds nothing that was granted or asked', async () => {
    const { store, ledgers } = await world();
    const here = ledgers.ofSession('s', {});
    const approval = {
      toolCallId: 'c',
      question: 'of turn',
      toolName: 't',
      args: {},
      capabilities: {},
      reason: 'r',
      askedAt: 1,
    };
    await here.append(() => [
      { kind: 'asked', input: {}, approval: { ...approval, question: 'q' } },
    ]);
    await here.append(() => [{ kind: 'asked', input: {}, approval: { ...approval, turn: 1 } }]);
    await here.append(() => [{ kind: 'withdrawn', call: 'c', question: 'of turn' }]);
    expect(here.waiting).toHaveLength(1);
    expect(here.settledCall(1, 'c')).toBe('withdrawn');
    await new SessionLedgers(store).sessions().delete('s');
    expect(await isTainted(store)).toBe(false);
    await here.refresh();
    expect(here).toMatchObject({ isTainted: true, sources: [SOURCE], waiting: [] });
    // Another turn 1 may have a call of that id.
    expect(here.settledCall(1, 'c')).toBeUndefined();
    expect(await isTainted(store)).toBe(true);
    await here.refresh();
    expect(await store.messages(LEDGER)).toHaveLength(1);
  });

  it('is noticed also where as much was written again', async () => {
    const { store, ledgers } = await world();
    const here = ledgers.ofSession('s', {});
    await new SessionLedgers(store).sessions().delete('s');
    const other = { source: 'other', tool: 'other' };
    await new SessionLedgers(store).ofSession('s', {}).addSources([other]);
    await here.addSources([{ source: 'third', tool: 'third' }]);
    const now = new SessionLedgers(store).ofSession('s', {});
    await now.refresh();
    expect(now.sources).toContainEqual(other);
    expect(now.sources).toContainEqual({ source: 'third', tool: 'third' });
    await here.refresh();
    await now.refresh();
    expect(now.sources).toContainEqual(other);
  });
});

describe('the ledger of a session that another process uses too', () => {
  it('is found to be another one, though that has as many records', async () => {
    const { store, ledgers } = await world();
    const ledger = ledgers.ofSession('s', {});
    await ledger.refresh();
    const others = new SessionLedgers(store);
    await others.sessions().delete('s');
    await others
      .ofSession('s', {})
      .addSources([{ source: 'https://other.x/', tool: 'fetch_page' }]);
    const before = ledger.generation;
    // The store accepts it, since there is one record before it.
    await ledger.addSources([{ source: 'https://third.x/', tool: 'fetch_page' }]);
    await ledger.refresh();
    expect(ledger.generation).toBeGreaterThan(before);
    expect(ledger.sources.map(({ source }) => source)).toContain('https://other.x/');
  });

  it('is not written where others never stop writing', async () => {
    const store = createInMemorySessionStore();
    let tries = 0;
    const busy: SessionStore = {
      ...store,
      append: async () => {
        tries += 1;
        throw new EthosError('SESSION_CHANGED', 'another was first');
      },
    };
    const ledger = new SessionLedgers(busy).ofSession('s', {});
    expect(await codeOf(ledger.addSources([SOURCE]))).toBe('SESSION_CHANGED');
    expect(tries).toBe(20);
    expect(ledger.isTainted).toBe(false);
  });

  it('is the same object for everybody, as one of the last 1,000', () => {
    const ledgers = new SessionLedgers(createInMemorySessionStore());
    const [first, second] = ['first', 'second'].map((id) => ledgers.ofSession(id, {}));
    for (let n = 0; n < 998; n++) ledgers.ofSession(`s${n}`, {});
    expect(ledgers.ofSession('first', {})).toBe(first);
    ledgers.ofSession('one more', {});
    expect(ledgers.ofSession('first', {})).toBe(first);
    expect(ledgers.ofSession('second', {})).not.toBe(second);
  });

  it('reads what it wrote itself once', async () => {
    const store = createInMemorySessionStore();
    let read = 0;
    const counting: SessionStore = {
      ...store,
      messages: async (...args) => {
        const page = await store.messages(...args);
        read += page.length;
        return page;
      },
    };
    const ledger = new SessionLedgers(counting).ofSession('s', {});
    for (let n = 0; n < 50; n++) {
      await ledger.append(() => [{ kind: 'written', paths: [`/work/${n}`] }]);
      await ledger.refresh();
    }
    // Each record once, and the one before it.
    expect(read).toBeLessThanOrEqual(100);
  });

  it('is read on where a page ends among its own records', async () => {
    const store = createInMemorySessionStore();
    const paged: SessionStore = {
      ...store,
      messages: async (...args) => (await store.messages(...args)).slice(0, 3),
    };
    const one = new SessionLedgers(paged).ofSession('s', {});
    for (let n = 0; n < 9; n++) await one.append(() => [{ kind: 'written', paths: [`/own/${n}`] }]);
    const other = new SessionLedgers(store).ofSession('s', {});
    await other.refresh();
    await other.append(() => [{ kind: 'written', paths: ['/other'] }]);
    await one.refresh();
    expect([...one.written]).toContain('/other');
  });

  it('is read on after a record that takes a whole page', async () => {
    const store = createInMemorySessionStore();
    // As the stores do: a page ends where its limit in bytes is reached.
    const paged: SessionStore = {
      ...store,
      messages: async (...args) => {
        let left = 2_000_000;
        return (await store.messages(...args)).filter(({ data }, index) => {
          const fits = index === 0 || left > 0;
          left -= JSON.stringify(data).length;
          return fits;
        });
      },
    };
    const one = new SessionLedgers(store).ofSession('s', {});
    const other = new SessionLedgers(paged).ofSession('s', {});
    await one.addSources([{ source: `https://e.x/${'x'.repeat(2_000_000)}`, tool: 'fetch_page' }]);
    await other.refresh();
    await one.append(() => [{ kind: 'written', paths: ['/work/a'] }]);
    await other.refresh();
    expect([...other.written]).toEqual(['/work/a']);
  });
});
