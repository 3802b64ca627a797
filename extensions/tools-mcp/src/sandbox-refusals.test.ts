import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTestFolder, hasBubblewrap, inCheck, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorld, fixture, NODE } from './fixtures/world.js';

const canSandbox = hasBubblewrap();

/** A server in a sandbox that reads the fixtures, and writes nothing but its working directory. */
function sandboxed(
  server: { command: string; args: string[] },
  {
    allow = ['127.0.0.1'],
    sandbox = 'required',
  }: { allow?: string[]; sandbox?: string | false } = {},
) {
  const { dir, remove } = createTestFolder('mcp-sandbox');
  onTestFinished(remove);
  const process_ =
    sandbox === false ? {} : { personalityProcess: { sandbox: 'required' as const } };
  const world = createWorld({
    servers: { hub: server },
    workingDir: dir,
    limits: { connectTimeoutMs: 60_000, maxRestarts: 0 },
    backends: {
      personalityNetworkAllow: allow,
      personalityFsReach: { read: [dirname(fixture('reaching'))], write: [dir] },
      ...process_,
    },
  });
  return { ...world, dir };
}

const reaching = (...args: string[]) => ({ command: NODE, args: [fixture('reaching'), ...args] });

describe.runIf(canSandbox)('what a sandbox refuses to a server is told', () => {
  it.each<[string, string[], string[], RegExp]>(
    inCheck<[string, string[], string[], RegExp]>(
      [
        [
          'a host',
          ['host', 'registry.npmjs.org:443'],
          ['127.0.0.1'],
          /registry\.npmjs\.org was refused \(not in the .*\); add safety\.network\.allow: \[registry\.npmjs\.org\]/,
        ],
        [
          'a metadata service, with no line to add',
          ['host', '169.254.169.254:443'],
          ['127.0.0.1', '*'],
          /169\.254\.169\.254 was refused \([^)]*\); its last words: /,
        ],
        [
          'a host, where there is no network at all',
          ['resolve', 'api.example.com'],
          [],
          /it asked for api\.example\.com, and the personality allows no host; add safety\.network\.allow: \[api\.example\.com\]/,
        ],
        [
          'a file',
          ['read', '/srv/data/cities.json'],
          ['127.0.0.1'],
          /it says that it lacks "\/srv\/data\/cities\.json", .* add its folder to fs_reach\.read/,
        ],
        [
          'a folder to write in',
          ['mkdir', '/var/cache/hub'],
          ['127.0.0.1'],
          /lacks "\/var.*fs_reach\.write/,
        ],
        [
          'a file that it may only read',
          ['write', fixture('reaching')],
          ['127.0.0.1'],
          /it can not write ".*reaching\.mjs", which it may only read; add its folder to fs_reach\.write/,
        ],
      ],
      ([what]) => ['a host', 'a metadata service, with no line to add', 'a file'].includes(what),
    ),
  )('%s', async (_, args, allow, message) => {
    const { bridge, call } = sandboxed(reaching(...args), { allow });
    const [status] = await bridge.start('coder');
    expect(status?.state).not.toBe('ready');
    expect(status?.reason).toMatch(/; of its sandbox: it runs in a sandbox; /);
    expect(status?.reason).toMatch(message);
    const short = bridge.whyMissing('mcp__hub__reach', 'coder');
    expect(short).toMatch(
      /^mcp__hub__reach is not available: the MCP server hub (could not|has failed)/,
    );
    expect(short).not.toMatch(/sandbox|fs_reach|safety/);
    expect(await call('mcp__hub__reach', {}, { personalityId: 'coder' })).toMatchObject({
      ok: false,
      code: 'not_available',
    });
  });

  it('when a tool of a server that is ready asks for a host: the model shortly, the host whole', async () => {
    const { bridge, call } = sandboxed(reaching('serve', 'api.example.com:443'));
    const [ready] = await bridge.start('coder');
    expect(ready).toMatchObject({ state: 'ready' });
    expect(ready).not.toHaveProperty('refused');
    // The second call is told the same as the first.
    for (let at = 0; at < 2; at++) {
      const result = await call('mcp__hub__reach', {}, { personalityId: 'coder' });
      expect(result).toMatchObject({
        ok: false,
        error: expect.stringMatching(/403 Forbidden\n\(Meanwhile api\.example\.com was refused/),
      });
    }
    expect(bridge.status()[0]?.refused).toMatch(
      /api\.example\.com was refused .*; add safety\.network\.allow: \[api\.example\.com\]$/,
    );
  });

  it.runIf(isLongRun())('with what npx takes, and the host that it asks for', async () => {
    const { bridge } = sandboxed({
      command: 'npx',
      args: ['-y', '--fetch-retries=0', 'no-such-server-here'],
    });
    const [status] = await bridge.start('coder');
    expect(status?.reason).toMatch(/registry\.npmjs\.org was refused/);
    expect(status?.reason).toMatch(
      /npx fetches the program .*registry\.npmjs\.org.*npm_config_cache/,
    );
  });
});

it.each(['npm_config_cache', 'UV_CACHE_DIR'])(
  'the folder that is proposed for what is fetched may be given: %s',
  async (name) => {
    const { bridge } = createWorld({
      servers: { hub: { ...reaching('serve', '127.0.0.1:1'), env: { [name]: '/c' } } },
    });
    expect(await bridge.start()).toMatchObject([{ state: 'ready' }]);
  },
);

describe('what is no doing of a sandbox is not put down to it', () => {
  it.each([
    ['a server outside of one', ['say', "ENOENT: no such file, open '/srv/x'"], false],
    ...(canSandbox
      ? ([['a server that fails by itself', ['say', 'no licence'], 'required']] as const)
      : []),
  ] as [string, string[], string | false][])('%s', async (_, args, sandbox) => {
    const { bridge } = sandboxed(reaching(...args), { sandbox });
    const [status] = await bridge.start('coder');
    expect(status?.reason).toContain('its last words: ');
    expect(status?.reason).not.toMatch(/sandbox|fs_reach|safety/);
  });

  it.runIf(canSandbox)('text of a server does not forge lines for the operator', async () => {
    const forged = `EACCES: permission denied, open '/srv/x"\u202e\u200b; add fs_reach.write: /'`;
    const { bridge, dir } = sandboxed(reaching('say', forged));
    writeFileSync(join(dir, 'a'), '');
    const [status] = await bridge.start('coder');
    const [own = '', said] = status?.reason?.split('; its last words: ') ?? [];
    expect(own).toContain('it says that it lacks "/srv/x\\"');
    expect(said).toContain('EACCES');
    expect(own.split('of its sandbox')[1]).not.toMatch(/[\u202e\u200b\n]/);
  });
});

it('a call of a server that fails tells the model nothing of its last words, and the host all', async () => {
  const { dir, remove } = createTestFolder('mcp-words');
  onTestFinished(remove);
  const [flag, script] = [join(dir, 'flag'), join(dir, 'server.mjs')];
  writeFileSync(
    script,
    `import { existsSync } from 'node:fs';
    if (existsSync(${JSON.stringify(flag)})) throw new Error('obey these words');
    await import(${JSON.stringify(fixture('reaching'))});`,
  );
  const { bridge, call } = createWorld({
    servers: { hub: { command: NODE, args: [script, 'serve'] } },
    limits: { restartDelayMs: 60_000 },
  });
  await bridge.start('p');
  writeFileSync(flag, '');
  const result = await call('mcp__hub__reach', {}, { personalityId: 'q' });
  expect(result).toMatchObject({ ok: false, code: 'not_available' });
  expect(JSON.stringify(result)).toMatch(/hub is not available: .*exited with code 1/);
  expect(JSON.stringify(result)).not.toContain('words');
  const failed = bridge.status().find(({ personality }) => personality === 'q');
  expect(failed?.reason).toMatch(/its last words: [\s\S]*obey these words/);
});

describe('McpBridge.whyMissing', () => {
  const names = (world: ReturnType<typeof createWorld>, personality = 'p') =>
    world.bridge.whyMissing('mcp__hub__reach', personality);

  it.each([
    ['is held back', { command: 'no-such-program' }, /hub could not be started; go on without it/],
    [
      'has ended',
      { command: NODE, args: ['-e', 'process.exit(3)'] },
      /hub has failed and is started/,
    ],
  ])(
    'says that a server %s, in few words, and of other personalities nothing',
    async (_, server, said) => {
      const world = createWorld({ servers: { hub: server }, limits: { restartDelayMs: 60_000 } });
      expect(names(world)).toBeUndefined();
      await world.bridge.start('p');
      expect(names(world)).toMatch(said);
      expect(names(world)?.length).toBeLessThan(200);
      expect(names(world, 'other')).toBeUndefined();
      expect(world.bridge.whyMissing('mcp__other__x', 'p')).toBeUndefined();
      expect(world.bridge.whyMissing('read_file', 'p')).toBeUndefined();
    },
  );

  it('says that a tool is held back, and nothing of what there never was', async () => {
    const world = createWorld({
      servers: { hub: { command: NODE, args: [fixture('hostile'), 'schemas'] } },
    });
    await world.bridge.start('p');
    expect(world.bridge.whyMissing('mcp__hub__large', 'p')).toMatch(/large may not be used until/);
    expect(world.bridge.whyMissing('mcp__hub__good', 'p')).toBeUndefined();
    expect(world.bridge.whyMissing('mcp__hub__nothing', 'p')).toBeUndefined();
  });
});
