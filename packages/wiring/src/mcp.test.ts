import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { createMcpBridge, parseMcpConfig } from '@ethosagent/tools-mcp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RuntimeMcp } from './mcp.js';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

// Real servers: programs from npm that this test starts.
const everything = createRequire(
  new URL('../../../extensions/tools-mcp/package.json', import.meta.url),
).resolve('@modelcontextprotocol/server-everything/dist/index.js');

let home: string;
const open: ToolRuntime[] = [];

function put(name: string, text: string): void {
  const file = join(home, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const personality = (id: string, yaml: string) =>
  put(`personalities/${id}/config.yaml`, `name: ${id}\n${yaml}`);
const server = { command: process.execPath, args: [everything, 'stdio'] };

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
  const runtime = await createToolRuntime({
    home,
    cwd: home,
    personality: 'user',
    mcp: true,
    ...options,
  });
  open.push(runtime);
  return runtime;
}
const namesOf = async (runtime: ToolRuntime, personality?: string) =>
  (await runtime.definitions(personality)).map(({ name }) => name);
async function echo(runtime: ToolRuntime, personality: string): Promise<string> {
  const call = { toolCallId: '1', name: 'mcp__all__echo', args: { message: 'hello' } };
  const [answer] = await runtime.execute([call], { personality, protections: 'none' });
  if (answer === undefined) return 'no answer';
  return answer.result.ok ? answer.result.value : answer.result.error;
}
/** Waits until the server has started. A busy machine may need longer than a runtime waits. */
const served = (runtime: ToolRuntime, personality = 'user') =>
  expect.poll(() => namesOf(runtime, personality)).toContain('mcp__all__echo');

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-mcp-')));
  put('mcp.json', JSON.stringify({ mcpServers: { all: server } }));
  personality('user', 'mcp_servers: [all]\n');
  personality('none', 'mcp_servers: []\n');
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(home, { recursive: true, force: true });
});

describe('the MCP servers of a runtime', () => {
  it('are those of <home>/mcp.json, for the personalities that name them', async () => {
    const runtime = await start();
    await served(runtime);
    expect(await echo(runtime, 'user')).toMatch(/hello/);
    expect(await namesOf(runtime, 'none')).toEqual([]);
    expect(await echo(runtime, 'none')).toMatch(/the MCP server all is not allowed/);
    expect(runtime.mcp?.status()).toMatchObject([
      { server: 'all', personality: 'user', state: 'ready' },
    ]);
    expect(await runtime.problems()).toEqual([]);
  });

  it.runIf(isLongRun())(
    'have a connection for each personality, which ends when its file changes',
    async () => {
      personality('other', 'mcp_servers: [all]\n');
      const runtime = await start();
      const ready = () =>
        runtime.mcp?.status().map(({ personality, state }) => `${personality} ${state}`);
      await Promise.all([echo(runtime, 'user'), echo(runtime, 'other'), echo(runtime, 'user')]);
      await Promise.all([served(runtime), served(runtime, 'other')]);
      expect(ready()?.sort()).toEqual(['other ready', 'user ready']);
      personality('user', 'mcp_servers: []\n');
      expect(await echo(runtime, 'user')).toMatch(/not allowed/);
      expect(ready()).toEqual(['other ready']);
      personality('user', 'mcp_servers: [all]\n');
      await served(runtime);
      expect(await echo(runtime, 'user')).toMatch(/hello/);
    },
  );

  it('say nothing in a dry run, so that their session has read nothing of them', async () => {
    const runtime = await start();
    await served(runtime);
    const session = runtime.session('s');
    const call = { toolCallId: '1', name: 'mcp__all__echo', args: { message: 'hello' } };
    const dry = await session.execute([call], { dryRun: true });
    expect(dry[0]?.result).toMatchObject({
      ok: true,
      value: '[dry-run] echo of the MCP server all would be called',
    });
    expect(await session.sources()).toEqual([]);
    await session.execute([{ ...call, toolCallId: '2' }]);
    expect(await session.sources()).toHaveLength(1);
  });

  it('stand in the reach, with what they may touch', async () => {
    mkdirSync(join(home, 'notes'));
    personality('user', 'mcp_servers: [all]\nfs_reach: {read: ["${ETHOS_HOME}/notes"]}\n');
    const runtime = await start();
    await served(runtime);
    const reach = (await runtime.reach()).find(({ tool }) => tool === 'mcp__all__echo');
    expect(reach).toMatchObject({
      offered: true,
      grant: {
        process: { allowedBinaries: [process.execPath] },
        fs_reach: { read: [join(home, 'notes')], write: [] },
      },
    });
  });

  it.runIf(isLongRun())('may come from a bridge of the host', async () => {
    const config = parseMcpConfig({ servers: { all: server } });
    const runtime = await start({ mcp: (parts) => createMcpBridge({ ...parts, config }) });
    await served(runtime);
    expect(await echo(runtime, 'user')).toMatch(/hello/);
    await runtime.close();
    expect(await echo(runtime, 'user')).toMatch(/closed/);
    expect(runtime.mcp?.status()).toEqual([]);
  });

  it.each([
    ['nothing', undefined, /mcp\.json: can not be read/],
    ['no JSON', '{', /mcp\.json:1:2: /],
    ['a server without a command', '{"mcpServers":{"x":{}}}', /mcp\.json/],
  ])('are refused where <home>/mcp.json holds %s', async (_, text, message) => {
    rmSync(join(home, 'mcp.json'));
    if (text !== undefined) put('mcp.json', text);
    await expect(start()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('are refused where <home>/mcp.json is a pipe, which nobody may ever write into', async () => {
    rmSync(join(home, 'mcp.json'));
    execFileSync('mkfifo', [join(home, 'mcp.json')]);
    await expect(start()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/mcp\.json: can not be read/),
    });
  });

  it('that can not be started say so, and leave the rest working', async () => {
    put(
      'mcp.json',
      JSON.stringify({
        mcpServers: {
          // The server has no tool with this name, so the operator must be told.
          all: { ...server, excludeTools: ['another'] },
          gone: { command: 'no-such-program-here' },
        },
      }),
    );
    personality('user', 'mcp_servers: [all, gone]\n');
    const runtime = await start();
    await served(runtime);
    expect(await echo(runtime, 'user')).toMatch(/hello/);
    const gone = runtime.mcp?.status().find((status) => status.server === 'gone');
    expect(gone?.state).not.toBe('ready');
    expect(gone?.reason).toMatch(/no-such-program-here/);
    expect(existsSync(join(home, 'state.sqlite'))).toBe(true);
    const answers = await runtime.execute(
      ['mcp__gone__x', 'mcp__all__ech', 'mcp__all__another', 'mcp__other__x'].map((name) => ({
        toolCallId: name,
        name,
        args: {},
      })),
    );
    const told = answers.map(({ result }) => (result.ok ? '' : `${result.code}: ${result.error}`));
    expect(told).toEqual([
      expect.stringMatching(/^not_available: mcp__gone__x .* server gone could not be started; go/),
      'not_available: there is no tool "mcp__all__ech"; did you mean "mcp__all__echo"?',
      expect.stringMatching(/^not_available: mcp__all__another may not be used until/),
      expect.stringMatching(
        /^not_available: there is no tool "mcp__other__x"; there are mcp__all__\S+, .*in all\)$/,
      ),
    ]);
    expect(told.join()).not.toContain('no-such-program-here');
    expect((await runtime.problems()).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/gone is held: .*no-such-program-here/),
    );
    expect(await runtime.problems()).toContainEqual(
      expect.objectContaining({ key: 'all', tool: 'another', heldBack: true }),
    );
  });

  const silent = (bridge: Partial<RuntimeMcp> = {}): RuntimeMcp => ({
    start: () => new Promise(() => {}),
    stop: async () => {},
    status: () => [],
    pending: () => [],
    accept: async () => [],
    close: async () => {},
    ...bridge,
  });

  it('that never come hold up no other tool, and a call of theirs no longer than its turn', async () => {
    personality('user', 'mcp_servers: [slow]\nfs_reach: {read: ["${ETHOS_HOME}/notes"]}\n');
    put('notes/a.txt', 'here');
    const runtime = await start({ tools: ['read_file'], mcp: () => silent() });
    const read = {
      toolCallId: '1',
      name: 'read_file',
      args: { path: join(home, 'notes', 'a.txt') },
    };
    expect((await runtime.execute([read]))[0]?.result).toMatchObject({ ok: true });

    const controller = new AbortController();
    const call = { toolCallId: '2', name: 'mcp__slow__x', args: {} };
    const running = runtime.execute([call], { abortSignal: controller.signal });
    controller.abort();
    expect((await running)[0]?.result).toEqual({
      ok: false,
      code: 'not_available',
      error: expect.stringMatching(/^the turn was aborted before the call ran/),
      cause: 'CALL_ABORTED',
    });
  });

  it('are among the problems while they are not ready, with what of the file is not read', async () => {
    const held = { tools: [], held: [], state: 'held' };
    const status = () => [
      { ...held, server: 'all', personality: 'user', reason: 'it needs the secret mcp/all/KEY' },
      { ...held, server: 'all', personality: 'other', reason: 'of another personality' },
      { ...held, server: 'fine', personality: 'user', state: 'ready' },
    ];
    const bridge = silent({ start: async () => {}, status, notes: ['envFile is not read'] });
    const runtime = await start({ mcp: () => bridge });
    expect((await runtime.problems()).map(({ message }) => message)).toEqual([
      'envFile is not read',
      expect.stringContaining('all is held: it needs the secret mcp/all/KEY'),
    ]);
  });
});
