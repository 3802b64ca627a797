import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolRuntime, ToolRuntimeOptions } from '../runtime-api.js';
import { createToolRuntime } from '../tool-runtime.js';
import { writeLockText } from './lock-file.js';
import { formatReachLock, parseReachLock } from './lock-text.js';

/** A server with the tools in a file beside it. */
const SERVER = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const tools = () => JSON.parse(readFileSync(new URL('tools.json', import.meta.url), 'utf8'));
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'listed', version: '1' },
  }),
  'tools/list': () => ({ tools: tools() }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'called' }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
}
`;

let world: string;
let home: string;
const open: ToolRuntime[] = [];

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-lock-')));
  home = join(world, 'home');
  put('../server.mjs', SERVER);
  tools([{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }]);
  servers({ docs: { command: process.execPath, args: [join(world, 'server.mjs')] } });
  put('personalities/user/config.yaml', 'name: User\n');
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

function put(name: string, text: string): void {
  const file = join(home, name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}
function tools(list: readonly object[]): void {
  put('../tools.json', JSON.stringify(list));
}
function servers(mcpServers: object): void {
  put('mcp.json', JSON.stringify({ mcpServers }));
}

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
  const runtime = await createToolRuntime({
    home,
    cwd: world,
    personality: 'user',
    mcp: true,
    ...options,
  });
  open.push(runtime);
  return runtime;
}

const PLACES = () => ({ home, cwd: world, file: 'reach.lock' });

async function lock(): Promise<string> {
  const runtime = await start();
  const text = formatReachLock(await runtime.reachLock(), PLACES());
  await runtime.close();
  // Another machine would not have what was pinned at the first use.
  rmSync(join(home, 'state.sqlite'), { force: true });
  return text;
}

async function check(text: string): Promise<string[]> {
  const runtime = await start();
  const changes = await runtime.compareReach(parseReachLock(text, PLACES()));
  await runtime.close();
  return changes.map(({ kind, server, tool, message }) =>
    [kind, server ?? tool, message].join(' ').replaceAll(world, 'WORLD'),
  );
}

describe('the lock of an agent with MCP servers', () => {
  it.runIf(isLongRun())(
    'holds how a server is reached, and what its tools say, whole',
    async () => {
      const text = await lock();
      expect(text).toContain('- tool: mcp__docs__read\n    description: Reads.\n    schema: |-\n');
      expect(text).toContain('"type": "object"');
      expect(text).toMatch(/servers:\n {2}- server: docs\n {4}reached:\n/);
      expect(await check(text)).toEqual([]);
    },
  );

  it('tells changed words as text, and a tool that came as widened', async () => {
    const text = await lock();
    const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
    tools([
      { name: 'read', description: 'Reads\u202e all.', inputSchema },
      { name: 'send', description: 'Sends.', inputSchema: { type: 'object' } },
    ]);
    const said = await check(text);
    expect(said.slice(1)).toEqual([
      'text mcp__docs__read describes itself otherwise',
      'text mcp__docs__read takes other arguments',
    ]);
    expect(said[0]).toMatch(/^widened mcp__docs__send is new /);
  });

  it.runIf(isLongRun())('tells another command, another variable and another name', async () => {
    const text = await lock();
    const args = [join(world, 'server.mjs')];
    const command = process.execPath;
    servers({ docs: { command, args: [...args, '--all'] } });
    expect(await check(text)).toEqual([
      `widened docs was reached by ${command} WORLD/server.mjs before, and is now reached by ${command} WORLD/server.mjs --all`,
    ]);
    rmSync(join(home, 'state.sqlite'), { force: true });
    servers({ docs: { command, args, env: { LEVEL: 'high' } } });
    expect(await check(text)).toEqual([
      'widened docs has other variables, headers or texts of them: LEVEL',
    ]);
    rmSync(join(home, 'state.sqlite'), { force: true });
    servers({ papers: { command, args } });
    expect(await check(text)).toEqual([
      'text papers was named docs',
      'text mcp__papers__read was named mcp__docs__read',
    ]);
  });

  it('writes no lock, and compares with none, while a server is not ready', async () => {
    const text = await lock();
    servers({ docs: { command: 'no-such-program-here' } });
    const runtime = await start();
    for (const asked of [
      () => runtime.reachLock(),
      () => runtime.compareReach(parseReachLock(text, PLACES())),
    ]) {
      await expect(asked()).rejects.toSatisfy((error) => errorCodeOf(error) === 'TOOL_UNAVAILABLE');
    }
    // A personality that does not use the server still gets a lock.
    put('personalities/plain/config.yaml', 'name: Plain\nmcp_servers: []\n');
    const { personalities } = await runtime.reachLock(['plain']);
    expect(personalities).toMatchObject([{ personality: 'plain', servers: [] }]);
  });

  it('starts no server with another command, where the runtime is held to it', async () => {
    writeLockText(join(home, 'reach.lock'), await lock());
    const runtime = await start({ lock: true });
    const call = { toolCallId: '1', name: 'mcp__docs__read', args: {} };
    expect((await runtime.execute([call], { protections: 'none' }))[0]?.result.ok).toBe(true);
    await runtime.close();
    const touched = join(world, 'touched');
    put(
      '../other.mjs',
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(touched)}, '');\n`,
    );
    rmSync(join(home, 'state.sqlite'), { force: true });
    servers({ docs: { command: process.execPath, args: [join(world, 'other.mjs')] } });
    await expect(start({ lock: true })).rejects.toThrow(/REACH_WIDENED.*\n- docs was reached by/s);
    expect(() => rmSync(touched)).toThrow('ENOENT');
  });
});
