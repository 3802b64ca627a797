import { expect, it } from 'vitest';
import { answers, createFakeBridge, type FakeProcess } from './fixtures/fake-host.js';
import type { McpPinStore } from './index.js';

/** A store of pins that calls a function before it reads the pin of a tool. */
function pinsWith(onToolPin: () => Promise<void>): McpPinStore {
  return {
    get: async (key) => {
      if (key.startsWith('pin:')) await onToolPin();
      return null;
    },
    set: async () => {},
    delete: async () => {},
  };
}

it('a server that ends while its tools are compared with the pins leaves no service open', async () => {
  const running: FakeProcess[] = [];
  const { bridge, host } = createFakeBridge(
    (message, process) => {
      if (message.method === 'initialize') running.push(process);
      return answers(message, process);
    },
    { pins: pinsWith(async () => running.at(-1)?.exit(3)), limits: { maxRestarts: 0 } },
  );
  expect(await bridge.start()).toMatchObject([
    { state: 'held', reason: expect.stringContaining('it exited with code 3') },
  ]);
  expect(host.scopes.map(({ signal }) => signal.aborted)).toEqual([true]);
});
