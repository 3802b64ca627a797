import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { afterAll, describe, expect, it } from 'vitest';
import { bodyOf, listen } from './fixtures/http.js';
import { createWorld, fixture, isWaiting, NODE, type WorldOptions } from './fixtures/world.js';

const folder = mkdtempSync(join(tmpdir(), 'mcp-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = () => join(folder, `${files++}`);
const server = (...args: string[]) => ({ command: NODE, args: [fixture('hostile'), ...args] });
const due = { waitMs: 20_000 };

describe('a start that waits no longer than it is told', () => {
  it('comes back with what is ready, and the rest connects on', async () => {
    const world = createWorld({
      servers: { h: server('plain'), s: server('silent') },
      limits: { connectTimeoutMs: 600_000 },
    });
    await world.bridge.start('p', ['h']);
    const statuses = await world.bridge.start('p', undefined, { waitMs: 50 });
    expect(statuses.map(({ server: name, state }) => [name, state])).toEqual([
      ['h', 'ready'],
      ['s', 'connecting'],
    ]);
  });

  it.runIf(isLongRun())('shares what is being started already', async () => {
    const world = createWorld({ servers: { h: server('plain') } });
    await Promise.all([
      world.bridge.start('p', undefined, due),
      world.bridge.start('p', undefined, due),
    ]);
    const spawned = world.audit.filter(
      ({ capability, decision }) => capability === 'process' && decision === 'allowed',
    );
    expect(spawned).toHaveLength(1);
  });

  it.runIf(isLongRun())('tries again a server whose secret was missing', async () => {
    const secrets: Record<string, string> = {};
    const world = createWorld({
      servers: { h: { ...server('plain'), env: { A: '${TOKEN}' } } },
      secrets,
      limits: { restartDelayMs: 30 },
    });
    expect(await world.bridge.start('p', undefined, due)).toMatchObject([{ state: 'held' }]);
    secrets['mcp/h/TOKEN'] = 'given-12345';
    // Not at once.
    expect(await world.bridge.start('p', undefined, due)).toMatchObject([{ state: 'held' }]);
    await expect
      .poll(async () => (await world.bridge.start('p', undefined, due))[0]?.state, {
        timeout: 10_000,
      })
      .toBe('ready');
  });

  it.runIf(isLongRun())('tries again a server that was given up', async () => {
    const file = newFile();
    const script = newFile();
    writeFileSync(script, 'process.exit(4)');
    const world = createWorld({
      servers: { h: { command: NODE, args: [script, file] } },
      limits: { restartDelayMs: 10, maxRestarts: 1, maxRestartDelayMs: 20 },
    });
    await world.bridge.start('p', undefined, due);
    await expect.poll(() => world.bridge.status()[0]?.state, { timeout: 10_000 }).toBe('held');
    writeFileSync(
      script,
      `process.argv[2] = 'plain'; await import(${JSON.stringify(fixture('hostile'))})`,
    );
    await expect
      .poll(async () => (await world.bridge.start('p', undefined, due))[0]?.state, {
        timeout: 10_000,
      })
      .toBe('ready');
  });

  it.each(
    inCheck(
      [
        ['at once', false],
        ['only when it lists its tools', true],
      ],
      ([, greets]) => !greets,
    ),
  )('does not ask a user twice whom a server has asked %s', async (_name, greets) => {
    const { origin } = await listen(async (request, response) => {
      const { url } = request;
      const body = await bodyOf(request);
      const { id, method, params } = url === '/mcp' && body !== '' ? JSON.parse(body) : {};
      if (greets && method === 'initialize') {
        const { protocolVersion } = params;
        const serverInfo = { name: 'x', version: '1' };
        const result = { protocolVersion, capabilities: { tools: {} }, serverInfo };
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
      if (greets && method === 'notifications/initialized') {
        return void response.writeHead(202).end();
      }
      if (greets && request.method === 'GET' && url === '/mcp') {
        return void response.writeHead(405).end();
      }
      if (url === '/register') {
        response.writeHead(201, { 'content-type': 'application/json' });
        return void response.end('{"client_id":"c","redirect_uris":["http://127.0.0.1:9/cb"]}');
      }
      response.writeHead(url === '/mcp' ? 401 : 404).end();
    });
    const kept = new Map<string, string>();
    let asked = 0;
    const world = createWorld({
      servers: { r: { url: `${origin}/mcp` } },
      tokens: {
        get: async (key) => kept.get(key) ?? null,
        set: async (key, value) => void kept.set(key, value),
        delete: async (key) => void kept.delete(key),
      },
      redirectUrl: 'http://127.0.0.1:9/cb',
      onAuthorize: () => void asked++,
      limits: { restartDelayMs: 1 },
    });
    await world.bridge.start('p', undefined, due);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await world.bridge.start('p', undefined, due)).toMatchObject([{ state: 'held' }]);
    expect(asked).toBe(1);
  });
});

describe('connections', () => {
  const world = (options: Partial<WorldOptions> = {}) =>
    createWorld({ servers: { h: server('plain') }, ...options });

  it.runIf(isLongRun())(
    'that were started are closed when there are too many, and opened by a call',
    async () => {
      const { bridge, call } = world({ limits: { maxConnections: 2 } });
      for (const personality of ['a', 'b', 'c']) await bridge.start(personality);
      expect(bridge.status().map(({ state, reason }) => [state, reason])).toEqual([
        ['idle', expect.stringContaining('make room')],
        ['ready', undefined],
        ['ready', undefined],
      ]);
      // The start before a batch does not wake a sleeping server.
      await bridge.start('a', undefined, due);
      expect(bridge.status()[0]?.state).toBe('idle');
      expect(await call('mcp__h__echo', { text: 'x' }, { personalityId: 'a' })).toMatchObject({
        ok: true,
      });
      expect(bridge.status().map(({ state }) => state)).toEqual(['ready', 'idle', 'ready']);
    },
  );

  it('that are all in use make another one wait', async () => {
    const { bridge, call, events } = world({
      limits: { maxConnections: 1, restartDelayMs: 10 },
    });
    await bridge.start('a');
    const abort = new AbortController();
    const waiting = call('mcp__h__wait', {}, { personalityId: 'a', abortSignal: abort.signal });
    await isWaiting({ events });
    expect(await call('mcp__h__echo', { text: 'x' }, { personalityId: 'b' })).toMatchObject({
      code: 'not_available',
      error: expect.stringContaining('1 connections are in use'),
    });
    abort.abort();
    await waiting;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await call('mcp__h__echo', { text: 'x' }, { personalityId: 'b' })).toMatchObject({
      ok: true,
    });
  });

  it.runIf(isLongRun())('of sub-agents are forgotten when they are idle', async () => {
    const { bridge } = world({ limits: { idleMs: 50 } });
    await bridge.start('a/b');
    await bridge.start('a');
    await expect
      .poll(() => bridge.status().map(({ personality, state }) => [personality, state]), {
        timeout: 10_000,
      })
      .toEqual([['a', 'idle']]);
  });
});

describe('a callback of the host that fails', () => {
  const failing: [how: string, onStatus: () => Promise<void>][] = [
    [
      'throws',
      () => {
        throw new TypeError('no');
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('no'))],
  ];
  it.each(inCheck(failing, ([how]) => how === 'rejects'))(
    'because it %s does not fail a start',
    async (_name, onStatus) => {
      const world = createWorld({
        servers: { h: server('plain'), d: server('die', newFile()) },
        onStatus,
        limits: { restartDelayMs: 10, maxRestarts: 1 },
      });
      expect((await world.bridge.start()).map(({ state }) => state)[0]).toBe('ready');
      await expect.poll(() => world.bridge.status()[1]?.state, { timeout: 10_000 }).toBe('held');
    },
  );
});

describe('the notes of the file', () => {
  it('are there to be shown', () => {
    const world = createWorld({ servers: { h: { ...server('plain'), trust: true } } });
    expect(world.bridge.notes).toEqual([
      'mcp.json: mcpServers.h.trust: is not read: approvals are those of the personality',
    ]);
  });
});
