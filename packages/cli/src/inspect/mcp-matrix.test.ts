import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from '../fixtures/cli-home.js';
import { buildPage } from './fixtures/build-page.js';
import { openInspector, signIn } from './fixtures/open-inspector.js';
import type { ReachMatrix } from './inspect-api.js';

/** An MCP server that records that it was started. */
const SERVER = `import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
appendFileSync(process.argv[2], 'started ');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const tools = [{ name: 'look', description: '<b>Looks</b>\\u001b[2J', inputSchema: { type: 'object' } }];
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools },
  };
  if (results[method] && id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }) + '\\n');
}
`;

beforeAll(buildPage);

let world: ReturnType<typeof openCliHome>;
const flag = () => join(world.cwd, 'started');
const mcpFile = (...more: string[]) =>
  JSON.stringify({
    mcpServers: {
      notes: { command: 'node', args: [join(world.cwd, 'server.mjs'), flag(), ...more] },
    },
  });
const without = 'export default { tools: ["read_file"], personality: "coder" };';
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml':
      'name: Coder\nmcp_servers: [notes]\nfs_reach: { read: ["${CWD}"], write: ["${CWD}"] }\n',
    '.ethos/personalities/clerk/config.yaml': 'name: Clerk\nmcp_servers: []\n',
    '.ethos/ethos.config.mjs': without.replace('{ ', '{ mcp: true, '),
    'server.mjs': SERVER,
  });
  world.write('.ethos/mcp.json', mcpFile());
});
afterEach(() => world.remove());

/** The matrix of `reach --html`. */
async function matrix(...args: string[]): Promise<ReachMatrix> {
  const { code, out } = await world.run(['reach', '--html', ...args]);
  expect(code).toBe(0);
  return JSON.parse(/id="matrix">(.*?)<\/script>/s.exec(out)?.[1] ?? '');
}
const names = (shown: unknown) => {
  const { tools }: ReachMatrix = Object(shown);
  return tools.map(({ name }) => name);
};
const LOOK = 'mcp__notes__look';

describe('the matrix', () => {
  it('has the tools of a server that is connected, with what it reaches and why', async () => {
    const shown = await matrix();
    expect(names(shown)).toContain(LOOK);
    const index = names(shown).indexOf(LOOK);
    const node = shown.rows.find(({ kind, name }) => kind === 'binary' && name === 'node');
    expect(node?.cells[index]?.declared).toEqual(['process.allowedBinaries[0] = "node"']);
    expect((await world.run(['reach'])).out).toContain(LOOK);
  });

  it.runIf(isLongRun())('has those of one that does not start, as they were accepted', async () => {
    await world.run(['mcp', 'status']);
    world.write('server.mjs', 'process.exit(1)');
    expect(names(await matrix())).toContain(LOOK);
    const { tools } = JSON.parse((await world.run(['reach', LOOK, '--json'])).out);
    expect(tools[0].grant.process.allowedBinaries).toEqual(['node']);
  });

  it('has none of a server that nobody has accepted, or not like this', async () => {
    world.write('.ethos/ethos.config.mjs', without);
    expect(names(await matrix())).toEqual(['read_file']);
    world.write('.ethos/ethos.config.mjs', without.replace('{ ', '{ mcp: true, '));
    await world.run(['mcp', 'status']);
    world.write('.ethos/ethos.config.mjs', without);
    expect(names(await matrix())).toEqual(['read_file', LOOK]);
    expect(names(await matrix('--personality', 'clerk'))).not.toContain(LOOK);
    world.write('.ethos/mcp.json', mcpFile('--other'));
    expect(names(await matrix())).toEqual(['read_file']);
  });

  it('of the inspector has them too, and it starts no server', async () => {
    await world.run(['mcp', 'status']);
    world.write('server.mjs', SERVER.replace("'started '", "'again '"));
    const inspector = await openInspector(world);
    try {
      const ask = await signIn(inspector);
      expect(names((await ask('/api/reach')).value)).toEqual(['read_file', LOOK]);
      const clerk = (await ask('/api/reach?personality=clerk')).value;
      expect(names(clerk)).not.toContain(LOOK);
    } finally {
      expect(await inspector.stop()).toBe(0);
    }
    expect(readFileSync(flag(), 'utf8')).toBe('started ');
  });
});
