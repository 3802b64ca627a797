import { expect, it } from 'vitest';
import { BrowserHub } from './browser-hub.js';
import { browserSettings } from './browser-settings.js';

const NEVER = new AbortController().signal;

it('calls of one session and personality run one after another, and those of others at once', async () => {
  const hub = new BrowserHub();
  const done: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const call = (
    name: string,
    owner: { sessionId: string; personalityId?: string },
    waits = false,
  ) =>
    hub.inTurn(owner, NEVER, async () => {
      if (waits) await gate;
      done.push(name);
    });
  const calls = [
    call('first', { sessionId: 'a' }, true),
    call('second', { sessionId: 'a' }),
    call('other session', { sessionId: 'b' }),
    call('other personality', { sessionId: 'a', personalityId: 'p' }),
  ];
  await Promise.all(calls.slice(2));
  expect(done).toEqual(['other session', 'other personality']);
  open();
  await Promise.all(calls);
  expect(done.slice(2)).toEqual(['first', 'second']);
});

it('browsers that are just starting count as browsers', async () => {
  const hub = new BrowserHub();
  const failure = new TypeError('no browser');
  const failing: (() => void)[] = [];
  const services = {
    open: () => new Promise<never>((_, reject) => failing.push(() => reject(failure))),
  };
  const settings = browserSettings.parse({ max_sessions: 1 });
  const both = ['a', 'b'].map((sessionId) => hub.open({ sessionId }, services, settings));
  for (const fail of failing) fail();
  expect(await Promise.allSettled(both)).toEqual([
    { status: 'rejected', reason: failure },
    { status: 'fulfilled', value: undefined },
  ]);
});
