import { expect, it } from 'vitest';
import { createWorld, fixture, NODE } from './fixtures/world.js';

it('tools that mcp.json leaves out are neither listed nor run, whatever name they are asked by', async () => {
  const world = createWorld({
    servers: {
      h: {
        command: NODE,
        args: [fixture('hostile')],
        includeTools: ['echo', 'grow', 'exit', 'gone'],
        excludeTools: ['exit'],
      },
    },
  });
  const [status] = await world.bridge.start();
  expect(status).toMatchObject({
    tools: ['mcp__h__echo', 'mcp__h__grow'],
    held: [{ tool: 'gone', reason: expect.stringContaining('no such tool') }],
  });
  expect(await world.call('mcp__h__exit', {})).toMatchObject({ code: 'not_available' });
  expect(await world.call('mcp__h__wait', {})).toMatchObject({ code: 'not_available' });
  // A tool that the server adds later is left out too.
  expect(await world.call('mcp__h__grow', {})).toMatchObject({ ok: true });
  expect(await world.call('mcp__h__grown', {})).toMatchObject({ code: 'not_available' });
});
