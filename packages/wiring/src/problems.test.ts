import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createTestFolder, inCheck } from '@ethosagent/test-support';
import type { AnyTool, ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ToolRuntimeOptions } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

const toolOf = (name: string, capabilities: ToolCapabilities) =>
  defineTool({
    name,
    description: 'Does nothing.',
    input: z.object({}),
    capabilities,
    execute: async () => ok('done'),
  });
const getter = toolOf('getter', { network: { allowedHosts: ['*'] } });
const counter = toolOf('todo_count', {});
const git = toolOf('git', { process: { allowedBinaries: ['git', '/usr/bin/rsync'] } });
const keyed = toolOf('keyed', {
  network: { allowedHosts: ['a.test'] },
  secrets: ['search/brave_key', { ref: 'b/key', hosts: ['a.test'] }],
});
const ITS_HOST = 'safety: {network: {allow: [a.test]}}\n';
const boxed = toolOf('boxed', { process: { allowedBinaries: ['ls'], sandbox: 'required' } });

/** A home with one personality. `yaml` begins in line 2 of its file, and ends in line 4. */
function createHome(yaml: string) {
  const { base, remove } = createTestFolder('problems');
  onTestFinished(remove);
  const home = join(base, 'home');
  const put = (path: string, text: string, mode = 0o600) => {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, path), text, { mode });
    return join(home, path);
  };
  const file = put('personalities/coder/config.yaml', `name: Coder\n${yaml}`);
  const problems = async (options: Partial<ToolRuntimeOptions> = {}) => {
    const runtime = await createToolRuntime({
      home,
      personality: 'coder',
      tools: [counter],
      cwd: base,
      ...options,
    });
    onTestFinished(() => runtime.close());
    return runtime.problems();
  };
  return { home, file, put, problems };
}

describe('ToolRuntime.problems', () => {
  it.each([
    ['toolset: [todocount]', ':2:11: toolset: todocount is neither', 'did you mean "todo_count"?'],
    [
      'toolset: [a, todos]',
      ':2:11: toolset: a is neither',
      'a group of tools; register it, or take it out',
    ],
    [
      'toolset: [mcp__linear__list]',
      ':2:11: toolset: mcp__linear__list is a tool of an MCP server',
      'take it out',
    ],
    ['mcp_servers: [x, lnear]', ':2:18: mcp_servers: lnear is no', 'did you mean "linear"?'],
    ['plugins: [wether]', ':2:11: plugins: wether is no plugin', 'did you mean "weather"?'],
  ])('names what is meant by %s, and where it stands', async (yaml, start, end) => {
    const { file, problems } = createHome(`${yaml}\n`);
    const found = await problems({
      tools: [counter, toolOf('mcp__linear__list', {})],
      plugins: [{ id: 'weather', activate: (api) => api.registerTool(toolOf('forecast', {})) }],
    });
    const told = found.map(({ message }) => message);
    expect(told).toContainEqual(expect.stringContaining(`${file}${start}`));
    expect(told).toContainEqual(expect.stringMatching(new RegExp(`${end.replace('?', '\\?')}$`)));
  });

  it.each(['read', 'write'])('tells that a reach to %s is the whole machine', async (kind) => {
    const { base, remove } = createTestFolder('problems-root');
    onTestFinished(remove);
    const link = join(base, 'link');
    symlinkSync('/', link);
    for (const entry of ['/', link]) {
      const { file, problems } = createHome(`fs_reach: {${kind}: [${entry}]}\n`);
      expect(await problems()).toContainEqual({
        file,
        key: `fs_reach.${kind}`,
        tool: entry,
        message: expect.stringMatching(
          `config.yaml:2:\\d+: fs_reach.${kind}: ${entry} is the whole machine: tools may ${kind} every file .*; name the folders that are meant$`,
        ),
        heldBack: false,
      });
    }
  });

  it('tells that "*" is no wildcard in a folder, unless one has that name', async () => {
    const { home, file, problems } = createHome('fs_reach: {read: ["${CWD}/**", "${CWD}/a*"]}\n');
    mkdirSync(join(dirname(home), 'a*'));
    expect(await problems()).toEqual([
      expect.objectContaining({
        file,
        key: 'fs_reach.read',
        message: expect.stringMatching(/:2:\d+: .* nothing at .*\/\*\*; "\*" is no wildcard here/),
      }),
    ]);
  });

  it('tells of a network of everything with a tool of this project that has one, and not without', async () => {
    const { file, problems } = createHome('safety: {network: {allow: ["*"]}}\n');
    const ofNetwork = async (...tools: string[]) =>
      (await problems({ tools })).filter(({ key }) => key === 'safety.network.allow');
    expect(await ofNetwork('todo_add', 'memory_read')).toEqual([]);
    expect(await ofNetwork('todo_add', 'fetch_url')).toMatchObject([
      {
        file,
        tool: 'fetch_url',
        message: expect.stringContaining('allows every host'),
        heldBack: false,
      },
    ]);
    // A tool that is registered and not offered reaches nothing.
    const other = createHome('toolset: [memory_read]\nsafety: {network: {allow: ["*"]}}\n');
    expect(await other.problems({ tools: ['memory_read', 'fetch_url'] })).toEqual([]);
  });

  it('tells of hosts that no rule opens, which the reach does not show as opened', async () => {
    const { file, problems } = createHome(
      'safety: {network: {allow: [169.254.169.254, "a.test:22", "a.test:6379"]}}\n',
    );
    const found = await problems({ tools: [getter] });
    expect(found.map(({ message }) => message)).toEqual([
      `${file}:2:28: safety.network.allow: 169.254.169.254 gives nothing: 169.254.169.254 is a metadata service, which no rule opens; take it out`,
      `${file}:2:45: safety.network.allow: a.test:22 gives nothing: port 22 belongs to another protocol than HTTP, which no rule opens; take it out`,
    ]);
  });

  it('tells that a network is all of the internet, where a tool has one', async () => {
    const { file, problems } = createHome('safety: {network: {allow: [a.test, "*"]}}\n');
    expect(await problems()).toEqual([]);
    expect(await problems({ tools: [getter] })).toEqual([
      {
        file,
        key: 'safety.network.allow',
        tool: 'getter',
        message: expect.stringMatching(
          /config\.yaml:2:36: safety\.network\.allow: "\*" allows every host .*list the hosts/,
        ),
        heldBack: false,
      },
    ]);
  });

  it.each(
    inCheck(
      [
        ['gti', [git], ['no tool starts gti', 'did you mean "git"?']],
        ['git', [git], undefined],
        ['rsync', [git], undefined],
        ['gti', [git, toolOf('any', { process: { allowedBinaries: ['*'] } })], undefined],
        ['podman', [git], undefined],
      ],
      ([name]) => name !== 'podman' && name !== 'rsync',
    ),
  )('of a rule for the arguments of %s tells what holds for nothing', async (name, tools, said) => {
    const { problems } = createHome(`safety: {process: {arguments: {${name}: {deny: ["-c"]}}}}\n`);
    const found = (await problems({ tools })).filter(({ key }) => key.endsWith('arguments'));
    if (said === undefined) return expect(found).toEqual([]);
    for (const text of said) expect(found[0]?.message).toContain(text);
    expect(found[0]?.message).toContain('config.yaml:2:');
  });

  it.each([
    ['required by the personality', 'safety: {process: {sandbox: required}}\n', [git], ':2:29'],
    ['true in the personality', 'safety: {process: {sandbox: true}}\n', [git], ':2:29'],
    ['required by the tool', '', [boxed], ''],
  ])('tells of a sandbox that is missing and %s', async (_, yaml, tools, place) => {
    const { file, problems } = createHome(yaml);
    const found = await problems({ tools, env: { PATH: '/nowhere' } });
    expect(found).toContainEqual({
      file,
      key: 'safety.process.sandbox',
      tool: tools[0]?.name,
      message: expect.stringMatching(
        new RegExp(
          `config\\.yaml${place}: safety\\.process\\.sandbox: .* can not run: .* none that works; `,
        ),
      ),
      heldBack: true,
    });
    expect(found[0]?.message).not.toContain('SANDBOX_UNAVAILABLE');
    const preferred = createHome('safety: {process: {sandbox: preferred}}\n');
    const others = await preferred.problems({ tools: [git], env: { PATH: '/nowhere' } });
    expect(others.filter(({ heldBack }) => heldBack)).toEqual([]);
  });
});

describe('ToolRuntime.problems of schemas', () => {
  const city = { type: 'object', properties: { city: { type: 'string' } } };
  const plain = (name: string, schema: Record<string, unknown>, more: Partial<AnyTool> = {}) => ({
    ...{ name, description: 'Does nothing.', capabilities: {}, schema },
    execute: async () => ok('done'),
    ...more,
  });

  it.each<[string, Record<string, unknown>]>([
    ['an invalid type', { type: 'objekt' }],
    ['a property that is no schema', { type: 'object', properties: { city: 'string' } }],
    ['an invalid pattern', { properties: { city: { type: 'string', pattern: '(' } } }],
    ['a reference that leads nowhere', { properties: { city: { $ref: '#/$defs/city' } } }],
    ['a reference out of it', { $ref: 'https://x.test/schema.json' }],
    ['required that is no list', { type: 'object', required: 'city' }],
  ])('tells before the first call of %s', async (_, schema) => {
    const { problems } = createHome('toolset: [weather]\n');
    const tools = [plain('weather', schema), plain('other', { type: 'x' })];
    const message = expect.stringMatching(/^tools: the schema of weather is wrong.*correct it/);
    const told = { file: '', key: 'tools', tool: 'weather', message, heldBack: true };
    expect(await problems({ tools })).toEqual([told]);
  });

  it('tells of an outputSchema, and of none that is right or that the tool checks itself', async () => {
    const { problems } = createHome('');
    const tools = [
      plain('right', city, { outputSchema: city }),
      plain('itself', { type: 'x' }, { validateSchema: false }),
      plain('gives', city, { outputSchema: { type: 'x' } }),
    ];
    expect(await problems({ tools })).toMatchObject([{ tool: 'gives', heldBack: false }]);
  });
});

describe('ToolRuntime.problems of secrets', () => {
  it.each<[string, (file: string) => void, RegExp]>([
    ['that others may read', (file) => chmodSync(file, 0o644), /other users may read .*chmod 600/],
    ['in an open folder', (file) => chmodSync(dirname(file), 0o777), /may write in its folder/],
    ['that is too large', (file) => writeFileSync(file, 'x'.repeat(1_000_001)), /too large/],
  ])('tells of one %s, declared or not, without its value', async (_, spoil, message) => {
    const { home, put, problems } = createHome(ITS_HOST);
    const refs = ['search/brave_key', 'mcp/hub/TOKEN'];
    for (const ref of refs) spoil(put(`secrets/${ref}`, 'very-secret-value'));
    const found = await problems({ tools: [keyed] });
    expect(found.map(({ file, tool }) => [file, tool]).sort()).toEqual(
      [
        [join(home, 'secrets', 'search/brave_key'), 'keyed'],
        [join(home, 'secrets', 'mcp/hub/TOKEN'), ''],
      ].sort(),
    );
    for (const { key, message: said } of found) {
      expect(key).toBe('stores.secrets');
      expect(said).toMatch(message);
      expect(said).not.toContain('very-secret');
    }
  });

  it('tells of one that is a link, and of one that is there under a near name', async () => {
    const { home, put, problems } = createHome(ITS_HOST);
    put('secrets/search/brave-key', 'x');
    put('elsewhere', 'x');
    mkdirSync(join(home, 'secrets/b'), { mode: 0o700 });
    symlinkSync(join(home, 'elsewhere'), join(home, 'secrets/b/key'));
    const told = (await problems({ tools: [keyed] })).map(({ message }) => message);
    expect(told).toHaveLength(2);
    expect(told).toContainEqual(expect.stringContaining('reached through a link'));
    expect(told).toContainEqual(
      expect.stringContaining('there is search/brave-key, which no tool declares: rename it'),
    );
  });

  it('judges a declared prefix by the secrets below it', async () => {
    const { home, put, problems } = createHome(ITS_HOST);
    const all = toolOf('all', { network: { allowedHosts: ['a.test'] }, secrets: ['b/*'] });
    expect(await problems({ tools: [all] })).toEqual([]);
    put('secrets/b/good', 'x');
    expect(await problems({ tools: [all] })).toEqual([]);
    put('secrets/b/deep/open', 'x', 0o644);
    expect(await problems({ tools: [all] })).toMatchObject([
      { file: join(home, 'secrets/b/deep/open'), tool: 'all' },
    ]);
    // A ref below a declared prefix is declared, so it does not count as misspelt.
    chmodSync(join(home, 'secrets/b/deep/open'), 0o600);
    const other = toolOf('other', {
      network: { allowedHosts: ['a.test'] },
      secrets: ['b/goods'],
    });
    expect(await problems({ tools: [all, other] })).toEqual([]);
  });

  it('tells of one that the personality names and that is not there, and of one for no tool', async () => {
    const yaml = 'safety:\n  network: {allow: [a.test]}\n  secrets:\n';
    const { file, put, problems } = createHome(
      `${yaml}    search/brave_key: own/keys\n    search/bravekey: own/key\n`,
    );
    put('secrets/own/key', 'x');
    expect((await problems({ tools: [keyed] })).map(({ message }) => message)).toEqual([
      `${file}:6:22: safety.secrets: no tool declares the secret search/bravekey; did you mean "search/brave_key"?`,
      `${file}:5:23: safety.secrets.search/brave_key: there is no secret own/keys, so keyed fails when it needs that secret; did you mean "own/key"?`,
    ]);
    put('secrets/own/keys', 'x');
    put('secrets/search/brave-key', 'x');
    const found = await problems({ tools: [keyed] });
    expect(found.map(({ key }) => key)).toEqual(['safety.secrets']);
  });

  it('tells nothing of those that are right, or just not there, nor of another store', async () => {
    const { put, problems } = createHome(ITS_HOST);
    put('secrets/b/key', 'x');
    expect(await problems({ tools: [keyed] })).toEqual([]);
    chmodSync(put('secrets/b/key', 'x'), 0o644);
    expect(await problems({ tools: [keyed], secrets: async () => 'x' })).toEqual([]);
  });
});

describe.runIf(process.getuid?.() === 0)('files that another user owns', () => {
  it.each(['personalities/coder/config.yaml', 'personalities/coder', 'personalities', '.'])(
    'are told: %s',
    async (path) => {
      const { home, file, problems } = createHome('');
      chownSync(join(home, path), 65_534, 65_534);
      expect((await problems()).map(({ message }) => message)).toEqual([
        `${file}: another user owns ${join(home, path)} (make it your own: chown), and may so change what this personality may do`,
      ]);
    },
  );
});
