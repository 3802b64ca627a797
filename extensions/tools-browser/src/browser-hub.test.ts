import { expect, it } from 'vitest';
import { BrowserHub } from './browser-hub.js';

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
