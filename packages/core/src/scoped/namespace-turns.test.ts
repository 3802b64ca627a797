import { describe, expect, it } from 'vitest';
import { CallScope } from '../call-scope.js';
import { NamespaceTurns, turnsOf } from './namespace-turns.js';

function scope(): CallScope {
  const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
  return new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
}

describe('NamespaceTurns.acquire', () => {
  it('gives the namespace in the order of asking, each after the end of the one before', async () => {
    const turns = new NamespaceTurns();
    const order: number[] = [];
    const scopes = [0, 1, 2].map(scope);
    const got = scopes.map(async (one, index) => {
      await turns.acquire('n', one);
      order.push(index);
    });
    for (const [index, one] of scopes.entries()) {
      await got[index];
      expect(order).toEqual([0, 1, 2].slice(0, index + 1));
      one.end();
    }
    await turns.acquire('n', scope());
  });

  it('passes over one that ended while it waited', async () => {
    const turns = new NamespaceTurns();
    const [first, gone, last] = [scope(), scope(), scope()];
    await turns.acquire('n', first);
    const waits = turns.acquire('n', gone);
    const gets = turns.acquire('n', last);
    gone.end();
    await waits;
    first.end();
    await gets;
    let taken = false;
    const next = turns.acquire('n', scope()).then(() => {
      taken = true;
    });
    await Promise.resolve();
    expect(taken).toBe(false);
    last.end();
    await next;
  });

  it('gives nothing to keep to a call that has ended', async () => {
    const turns = new NamespaceTurns();
    const ended = scope();
    ended.end();
    await turns.acquire('n', ended);
    await turns.acquire('n', scope());
  });

  it('keeps namespaces apart', async () => {
    const turns = new NamespaceTurns();
    await turns.acquire('a', scope());
    await turns.acquire('b', scope());
  });
});

describe('turnsOf', () => {
  it('is one for one factory, and another for another', () => {
    const [one, two] = [() => {}, () => {}];
    expect(turnsOf(one)).toBe(turnsOf(one));
    expect(turnsOf(one)).not.toBe(turnsOf(two));
  });
});
