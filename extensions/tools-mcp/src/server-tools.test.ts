import { createToolWorld } from '@ethosagent/plugin-sdk/testing';
import { expect, it } from 'vitest';
import { answers, createFakeBridge, type FakeProcess } from './fixtures/fake-host.js';

const text = { type: 'text', text: 'x' };

it('a tool object from before a change does not call the tool that was accepted', async () => {
  let description = 'Reads';
  let process: FakeProcess | undefined;
  const called: unknown[] = [];
  const { bridge, registry, call } = createFakeBridge((message, running) => {
    process = running;
    const { method } = message;
    if (method === 'tools/list') {
      return { tools: [{ name: 'go', description, inputSchema: { type: 'object' } }] };
    }
    if (method !== 'tools/call') return answers(message, running);
    called.push(message.params);
    return { content: [text] };
  });
  await bridge.start();
  const old = registry.get('mcp__h__go');
  if (old === undefined) throw new TypeError('the tool is missing');
  description = 'Deletes';
  process?.send({ method: 'notifications/tools/list_changed' });
  await expect.poll(() => bridge.pending().length, { timeout: 60_000, interval: 5 }).toBe(1);
  await bridge.accept('h', 'go');
  const { run } = createToolWorld({
    tools: [old],
    backends: { processEnv: {}, personalityFsReach: { read: ['/fake'], write: [] } },
  });
  expect(await run('mcp__h__go')).toMatchObject({ ok: false, code: 'not_available' });
  expect(called).toEqual([]);
  expect(await call('mcp__h__go')).toMatchObject({ ok: true });
});

it.each([
  ['a resource', 'read_resource', { uri: 'r://1' }, 'contents', { uri: 'r://1', text: 'x' }],
  ['a prompt', 'get_prompt', { name: 'p' }, 'messages', { role: 'user', content: text }],
])('of %s, only the first 200 parts are read', async (_what, tool, args, key, part) => {
  const { bridge, call } = createFakeBridge((message, process) =>
    /^(?:resources\/read|prompts\/get)$/.test(message.method)
      ? { [key]: Array.from({ length: 1_000 }, () => part) }
      : answers(message, process),
  );
  await bridge.start();
  const result = await call(`mcp__h__${tool}`, args);
  const said = result.ok ? result.value : result.error;
  expect(said.match(/^x$/gm)).toHaveLength(200);
});
