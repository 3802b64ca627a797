import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

const TOKEN = 'a'.repeat(40);

let bin: string;
let world: ReturnType<typeof openCliHome>;
beforeAll(async () => {
  bin = await bundleScript(new URL('./bin.ts', import.meta.url));
});
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml':
      'name: Coder\ntoolset: [count]\nfs_reach: { read: ["${CWD}/notes"] }\n',
    '.ethos/ethos.config.mjs': `console.log('printed while it is loaded');
      export default { tools: [{
        name: 'count', description: 'Counts.', capabilities: { fs_reach: { read: 'from-personality' } },
        schema: { type: 'object', properties: { path: { type: 'string' } } },
        async execute({ path }, ctx) {
          console.log('printed by a tool');
          return { ok: true, value: String((await ctx.scopedFs.read(ctx.workingDir + '/' + path)).length) };
        },
      }] };`,
    'notes/a.txt': 'hello',
    'secret.txt': 'not for tools',
  });
});
afterEach(() => world.remove());

const call = async (client: Client, path: string) => {
  const { isError, content } = await client.callTool({ name: 'count', arguments: { path } });
  return [isError === true, JSON.stringify(content)];
};
async function expectServed(client: Client): Promise<void> {
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['count']);
  expect(await call(client, 'notes/a.txt')).toEqual([false, expect.stringContaining('5')]);
  expect(await call(client, 'secret.txt')).toEqual([
    true,
    expect.stringContaining('PATH_NOT_REACHABLE'),
  ]);
}

describe('serve --mcp', () => {
  it('serves a client that starts it, and writes messages alone to its output', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [bin, 'serve', '--mcp', '--home', world.home],
        cwd: world.cwd,
        stderr: 'ignore',
      }),
    );
    await expectServed(client);
    await client.close();
    expect(errors).toEqual([]);
  });

  it.runIf(isLongRun())('ends with its input', async () => {
    const program = spawn(process.execPath, [bin, 'serve', '--mcp', '--home', world.home], {
      cwd: world.cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let out = '';
    program.stdout.on('data', (data) => {
      out += data;
    });
    program.stdin.end();
    expect(await once(program, 'close')).toEqual([0, null]);
    expect(out).toBe('');
  });

  it('serves clients with the token of the secret over HTTP, until the signal', async () => {
    await world.run(['secrets', 'set', 'mcp-server/token'], { readInput: async () => TOKEN });
    const controller = new AbortController();
    let listening = (_: string) => {};
    const address = new Promise<string>((resolve) => {
      listening = resolve;
    });
    const run = world.run(['serve', '--mcp', '--http', '--json'], {
      signal: controller.signal,
      out: (text) => listening(JSON.parse(text).url),
    });
    const url = new URL(await Promise.race([address, run.then(({ err }) => err)]));
    const connect = (token: string) => {
      const client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { Authorization: `Bearer ${token}` } };
      const connected = client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      return connected.then(() => client);
    };
    await expect(connect('b'.repeat(40))).rejects.toThrow();
    const client = await connect(TOKEN);
    await expectServed(client);
    controller.abort();
    expect((await run).code).toBe(0);
    // Otherwise the client keeps looking for its server during the following tests.
    await client.close();
    await expect(connect(TOKEN)).rejects.toThrow();
  });

  it.each([
    [['serve'], '--mcp'],
    [['serve', '--mcp', '--port', '8080'], 'needs --http'],
    [['serve', '--mcp', '--http', '--port', '99999'], 'between 1 and 65535'],
    [['serve', '--mcp', '--http', '--session', 's'], 'each client has its own'],
    [['serve', '--mcp', '--http'], 'secrets set mcp-server/token'],
    [['serve', '--mcp', '--http', '--token-secret', 'mine'], 'secrets set mine'],
    [['serve', '--mcp', '--http', '--token', TOKEN], "unknown option '--token'"],
  ])('refuses %j', async (args, hint) => {
    const { code, out, err } = await world.run(args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(hint)]);
  });

  it('refuses a token that is short', async () => {
    await world.run(['secrets', 'set', 'mcp-server/token'], { readInput: async () => 'short' });
    const { code, err } = await world.run(['serve', '--mcp', '--http']);
    expect([code, err]).toEqual([2, expect.stringContaining('32')]);
    expect(err).not.toContain('short\n');
  });
});
