import { describe, expect, it } from 'vitest';
import {
  answers,
  createFakeBridge,
  FAKE_SECRET,
  type FakeHost,
  type FakeProcess,
  type FakeServer,
  type Received,
} from './fixtures/fake-host.js';
import { createWorld, type World } from './fixtures/world.js';
import { type McpBridge, type McpPinStore, parseMcpConfig } from './index.js';

const ended = ({ scopes }: { scopes: FakeHost['scopes'] | World['scopes'] }) =>
  scopes.map(({ signal }) => signal.aborted);

/** A server that does something when its tool is called, instead of an answer. */
const onCall =
  (act: (process: FakeProcess, id: Received['id']) => void): FakeServer =>
  (message, process) => {
    if (message.method !== 'tools/call') return answers(message, process);
    act(process, message.id);
    return undefined;
  };

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

describe('a service ends', () => {
  it('when its server ends while the tools are compared with the pins', async () => {
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
    expect(ended(host)).toEqual([true]);
  });

  it('when the bridge is closed while the tools are compared with the pins', async () => {
    let closing: Promise<void> | undefined;
    const pins = pinsWith(async () => {
      closing ??= bridge.close();
    });
    const { bridge, host }: { bridge: McpBridge; host: FakeHost } = createFakeBridge(answers, {
      pins,
    });
    await bridge.start();
    await closing;
    expect(ended(host)).toEqual([true]);
  });

  it('with the bridge, and at once when it was opened for folders that there are not', async () => {
    const { bridge, host } = createFakeBridge(answers, {
      scope: { reach: { read: [], write: [] } },
    });
    expect(await bridge.start()).toMatchObject([{ state: 'ready' }]);
    expect(ended(host)).toEqual([true, false]);
    await bridge.close();
    expect(ended(host)).toEqual([true, true]);
  });

  it('when its server ends instead of an answer', async () => {
    const { bridge, host } = createFakeBridge((_message, process) => void process.exit(3), {
      limits: { maxRestarts: 0 },
    });
    expect(await bridge.start()).toMatchObject([{ state: 'held' }]);
    expect(ended(host)).toEqual([true]);
  });

  it('when the host has no network for its server', async () => {
    const config = parseMcpConfig({ mcpServers: { h: { url: 'https://mcp.test/' } } });
    const { bridge, host } = createFakeBridge(answers, { config, limits: { maxRestarts: 0 } });
    expect(await bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining('the host has no network') },
    ]);
    expect(ended(host)).toEqual([true]);
  });

  it('when a secret of its server is missing', async () => {
    const world = createWorld({ servers: { h: { command: 'x', env: { KEY: '${KEY}' } } } });
    expect(await world.bridge.start()).toMatchObject([
      { state: 'held', reason: expect.stringContaining('the secret mcp/h/KEY') },
    ]);
    expect(ended(world)).toEqual([true]);
  });
});

it('the last words of a server that was ready have none of its secrets', async () => {
  const serve = onCall((process) => {
    process.say(`I am leaving with ${FAKE_SECRET}\n`);
    void process.exit(3);
  });
  const { bridge, call } = createFakeBridge(serve, { limits: { maxRestarts: 0 } });
  await bridge.start();
  expect(await call('mcp__h__go')).toMatchObject({ ok: false });
  expect(bridge.status()[0]?.reason).toContain('I am leaving with [secret:fake]');
});

it('a server that gets ready and ends, again and again, is given up', async () => {
  let process: FakeProcess | undefined;
  const serve: FakeServer = (message, running) => {
    process = running;
    return answers(message, running);
  };
  let starts = 0;
  const { bridge } = createFakeBridge(serve, {
    limits: { restartDelayMs: 1, maxRestartDelayMs: 1, maxRestarts: 2 },
    onStatus: ({ state }) => {
      if (state !== 'ready' || ++starts > 5) return;
      void process?.exit(3);
    },
  });
  await bridge.start();
  await expect
    .poll(() => starts > 5 || bridge.status()[0]?.state === 'held', {
      timeout: 60_000,
      interval: 5,
    })
    .toBe(true);
  expect(bridge.status()).toMatchObject([
    { state: 'held', reason: expect.stringContaining('3 times in a row') },
  ]);
});

it('a call keeps its connection, however many others are wanted', async () => {
  let arrived = () => {};
  const called = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let answerIt = () => {};
  let calls = 0;
  const serve = onCall((process, id) => {
    answerIt = () => process.send({ id, result: { content: [{ type: 'text', text: 'done' }] } });
    arrived();
    if (++calls > 1) answerIt();
  });
  const { bridge, call } = createFakeBridge(serve, { limits: { maxConnections: 1 } });
  await bridge.start('a');
  const first = call('mcp__h__go', {}, { personalityId: 'b' });
  await called;
  expect(await call('mcp__h__go', {}, { personalityId: 'c' })).toMatchObject({
    code: 'not_available',
    error: expect.stringContaining('1 connections are in use'),
  });
  answerIt();
  expect(await first).toMatchObject({ ok: true, value: 'done' });
});
