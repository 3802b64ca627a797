import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMcpConfig } from './config.js';

const one = (server: object) => parseMcpConfig({ mcpServers: { s: server } }).servers[0];
const errorOf = (source: unknown) => {
  try {
    parseMcpConfig(source);
    return 'none';
  } catch (error) {
    return error instanceof Error ? error.message : 'another';
  }
};

describe('parseMcpConfig reads', () => {
  it('what Claude Desktop and Cursor have', () => {
    const text = `{
      // The files of the project
      "mcpServers": {
        "files": {
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${workspaceFolder}"],
          "env": { "LEVEL": "1", "TOKEN": "\${API_TOKEN}" },
        },
      },
    }`;
    expect(parseMcpConfig(text)).toEqual({
      servers: [
        {
          kind: 'process',
          name: 'files',
          command: ['npx'],
          args: [
            ['-y'],
            ['@modelcontextprotocol/server-filesystem'],
            [{ kind: 'host', name: 'workspaceFolder' }],
          ],
          env: new Map([
            ['LEVEL', ['1']],
            ['TOKEN', [{ kind: 'secret', name: 'API_TOKEN' }]],
          ]),
        },
      ],
      disabled: [],
      inputs: new Map(),
      notes: [],
    });
  });

  it('what VS Code has', () => {
    const config = parseMcpConfig({
      inputs: [{ type: 'promptString', id: 'key', description: 'The key', password: true }],
      servers: {
        hub: {
          type: 'http',
          url: 'https://hub.example/mcp',
          headers: { Authorization: 'Bearer ${input:key}' },
        },
        local: { type: 'stdio', command: 'node', args: ['a.js'], env: { N: 1, B: true } },
      },
    });
    expect(config.inputs).toEqual(new Map([['key', 'The key']]));
    expect(config.servers).toMatchObject([
      {
        kind: 'remote',
        transport: 'http',
        headers: new Map([['Authorization', ['Bearer ', { kind: 'secret', name: 'key' }]]]),
      },
      {
        env: new Map([
          ['N', ['1']],
          ['B', ['true']],
        ]),
      },
    ]);
  });

  it.each([
    ['url', { url: 'https://a.example' }, 'http'],
    ['serverUrl', { serverUrl: 'https://a.example' }, 'http'],
    ['httpUrl', { httpUrl: 'https://a.example' }, 'http'],
    ['streamable-http', { type: 'streamable-http', url: 'https://a.example' }, 'http'],
    ['sse', { type: 'sse', url: 'https://a.example' }, 'sse'],
    ['transport', { transport: 'sse', url: 'https://a.example' }, 'sse'],
  ])('a remote server by %s', (_name, server, transport) => {
    expect(one(server)).toMatchObject({ kind: 'remote', transport, url: ['https://a.example'] });
  });

  it('settings.json of VS Code, servers that are switched off, and time-outs', () => {
    const config = parseMcpConfig({
      mcp: {
        servers: {
          off: { command: 'a', disabled: true },
          out: { command: 'a', enabled: false },
          seconds: { command: 'a', timeout: 60 },
          milliseconds: { command: 'a', timeout: 5_000, alwaysAllow: ['x'] },
        },
      },
    });
    expect(config.disabled).toEqual(['off', 'out']);
    expect(config.servers.map(({ name, timeoutMs }) => [name, timeoutMs])).toEqual([
      ['seconds', 60_000],
      ['milliseconds', 5_000],
    ]);
    expect(config.notes).toEqual([
      'mcp.json: mcp.servers.seconds.timeout: 60 is read as seconds',
      'mcp.json: mcp.servers.milliseconds.alwaysAllow: is not read: approvals are those of the personality',
    ]);
  });

  it.each([
    ['a mark of the byte order', '\ufeff{"mcpServers":{"s":{"command":"x"}}}'],
    [
      'brackets in texts',
      JSON.stringify({ mcpServers: { s: { command: 'x', args: ['['.repeat(101)] } } }),
    ],
    [
      'brackets in comments',
      `{ /* ${'['.repeat(101)} */ // ${'{'.repeat(101)}\n"servers":{"s":{"command":"x"}}}`,
    ],
    ['oauth: false', { mcpServers: { s: { url: 'https://x.example', oauth: false } } }],
  ])('%s', (_name, source) => {
    expect(parseMcpConfig(source).servers).toHaveLength(1);
  });

  it.each([
    ['autoApprove', { command: 'x', autoApprove: [] }, 's.autoApprove: is not read: approvals are'],
    ['sandboxEnabled', { command: 'x', sandboxEnabled: true }, 'say sandbox: required'],
    ['another tools', { command: 'x', tools: { a: true } }, 's.tools: is not read: all its tools'],
    ['envFile', { command: 'x', envFile: '.env' }, 's.envFile: is not read: its variables'],
    ['dev', { command: 'x', dev: { watch: '*.js' } }, 's.dev: is not read: it is not watched'],
    ['another auth', { url: 'https://x.example', auth: 'oauth' }, 's.auth: is not read: write it'],
    [
      'keys of auth',
      { url: 'https://x.example', auth: { TOKEN: 'x' } },
      's.auth.TOKEN: is not read',
    ],
    [
      'headersHelper',
      { url: 'https://x.example', headersHelper: 'x' },
      's.headersHelper: is not read',
    ],
    [
      'oauth',
      { url: 'https://x.example', oauth: { callbackPort: 1 } },
      's.oauth.callbackPort: is not read',
    ],
    ['headers', { command: 'x', headers: { A: 'b' } }, 's.headers: is not read, of a server'],
    ['env', { url: 'https://x.example', env: { A: 'b' } }, 's.env: is not read, of a server'],
  ])('%s as a note', (_name, server, note) => {
    const { notes } = parseMcpConfig({ mcpServers: { s: server } });
    expect(notes).toEqual([expect.stringContaining(note)]);
  });

  it.each([
    ['what Gemini has', { includeTools: ['a', 'b'], excludeTools: ['b'] }, ['a', 'b'], ['b']],
    ['what Windsurf has', { disabledTools: ['b'] }, undefined, ['b']],
    ['what Codex has', { enabled_tools: ['a'], disabled_tools: ['b'] }, ['a'], ['b']],
    ['what GitHub has', { tools: ['a'] }, ['a'], []],
    ['two lists', { includeTools: ['a', 'b'], tools: ['b', 'c'] }, ['b'], []],
    ['an empty list', { includeTools: [] }, [], []],
  ])('a filter as %s', (_name, keys, include, exclude) => {
    expect(one({ command: 'x', ...keys })?.tools).toEqual({ include, exclude });
    expect(parseMcpConfig({ mcpServers: { s: { command: 'x', ...keys } } }).notes).toEqual([]);
  });

  it.each([{}, { tools: ['*'] }, { tools: '*' }])('no filter of %j', (keys) => {
    expect(one({ command: 'x', ...keys })).not.toHaveProperty('tools');
  });

  it('the authorization of Cursor, and that of Claude', () => {
    const auth = { CLIENT_ID: '${env:ID}', CLIENT_SECRET: 's', scopes: ['a', 'b'] };
    expect(one({ url: 'https://x.example', auth })).toMatchObject({
      oauth: { clientId: [{ kind: 'secret', name: 'ID' }], clientSecret: ['s'], scope: 'a b' },
    });
    const oauth = { clientId: 'c', scopes: 'a b' };
    expect(one({ url: 'https://x.example', oauth })).toMatchObject({
      oauth: { clientId: ['c'], scope: 'a b' },
    });
  });

  it('inputs of settings, with what stands for them, and names what else is there', () => {
    const inputs = [
      { id: 'level', type: 'pickString', options: ['a', 'b'], default: 'a' },
      { id: 'key', type: 'promptString', password: true },
    ];
    const servers = { s: { command: 'x', args: ['${input:level}', '${input:key}'] } };
    const config = parseMcpConfig({ 'editor.tabSize': 2, mcp: { inputs, servers, discovery: 1 } });
    expect([...config.inputs.keys()]).toEqual(['level', 'key']);
    expect(config.servers).toMatchObject([
      {
        args: [
          [{ kind: 'secret', name: 'level', fallback: 'a' }],
          [{ kind: 'secret', name: 'key' }],
        ],
      },
    ]);
    expect(config.notes).toEqual([
      'mcp.json: mcp.discovery: is not read',
      'mcp.json: mcp.inputs.0.options: is not read',
    ]);
    const desktop = parseMcpConfig({ mcpServers: servers, globalShortcut: 'Ctrl+Space' });
    expect(desktop.notes).toEqual(['mcp.json: globalShortcut: is not read']);
  });

  it('one of two lists, and says so', () => {
    const both = { mcpServers: { a: { command: 'x' } }, servers: { b: { command: 'y' } } };
    const { servers, notes } = parseMcpConfig(both);
    expect(servers.map(({ name }) => name)).toEqual(['a']);
    expect(notes).toEqual(['mcp.json: servers: is not read, since mcpServers is there']);
  });

  it.each([
    ['${A}', [{ kind: 'secret', name: 'A' }]],
    ['${env:A}', [{ kind: 'secret', name: 'A' }]],
    ['${A:-}', [{ kind: 'secret', name: 'A', fallback: '' }]],
    ['${A:-x:-y}', [{ kind: 'secret', name: 'A', fallback: 'x:-y' }]],
    ['a ${userHome}/b', ['a ', { kind: 'host', name: 'userHome' }, '/b']],
    ['${A', ['${A']],
    ['$A', ['$A']],
    ['', []],
  ])('the variable %s', (text, template) => {
    expect(one({ command: 'a', args: [text] })).toMatchObject({ args: [template] });
  });
});

describe('parseMcpConfig names what is wrong', () => {
  it.each([
    ['no JSON', '{"mcpServers": ', 'mcp.json:1:16: value expected'],
    ['a list', [], 'mcp.json: has neither mcpServers nor servers'],
    ['nothing', undefined, 'has neither mcpServers nor servers'],
    ['a server that is a text', { mcpServers: { a: 'npx' } }, 'mcp.json: mcpServers.a: '],
    ['no command', { mcpServers: { a: {} } }, 'mcpServers.a: has neither a command nor a url'],
    ['both', { servers: { a: { command: 'x', url: 'y' } } }, 'servers.a: has a command and a url'],
    ['no url', { servers: { a: { type: 'http' } } }, 'servers.a: has no url'],
    ['an unknown type', { servers: { a: { type: 'ws', url: 'x' } } }, 'servers.a.type: ws is none'],
    ['args that are a text', { servers: { a: { command: 'x', args: 'y' } } }, 'servers.a.args: '],
    ['env of objects', { servers: { a: { command: 'x', env: { A: {} } } } }, 'servers.a.env.A: '],
    [
      'an unknown variable',
      { servers: { a: { command: 'x', args: ['${command:ls}'] } } },
      'servers.a.args.0: ${command:ls} is no variable',
    ],
    ['a ref that leads out', { servers: { a: { command: '${../x}' } } }, 'is no variable'],
    ['too deep', `{"mcpServers":${'['.repeat(200_000)}`, 'nested deeper than 100 levels'],
    ['too deep after a text without end', `{"a\n${'['.repeat(200_000)}`, 'nested deeper'],
    ['texts without end', '"\\'.repeat(200_000), 'mcp.json:1:1: '],
    ['too long', `{"mcpServers":{}}${' '.repeat(1_000_000)}`, 'longer than 1000000 characters'],
  ])('%s', (_name, source, error) => {
    expect(errorOf(source)).toMatch(/^CONFIG_INVALID: mcp\.json/);
    expect(errorOf(source)).toContain(error);
  });

  it('all at once', () => {
    const error = errorOf({ mcpServers: { a: {}, b: { type: 'x' } } });
    expect(error).toMatch(/mcpServers\.a.*\n.*mcpServers\.b\.type/);
  });

  it.each([
    [
      'of syntax and of what is said',
      '{\n "servers": {\n  "a": {},\n  "b": {"command": "x" "args": 7},\n  "c": {"type": "ws"}\n }\n',
      ['3:3 servers.a', '4:24', '4:24 servers.b.args', '5:9 servers.c.type', '7:1'],
    ],
    [
      'in a server that does not end, and guesses none',
      '{"servers": {\n"a": {"args": 7},\n"b": {"command": "x", "args": [',
      ['2:7 servers.a.args', '3:32'],
    ],
    [
      'of one line',
      '{"servers": {"a": {}, "b": {"url": 5}}}',
      ['1:14 servers.a', '1:29 servers.b.url'],
    ],
    ['of a variable', '{"servers":\n{"a": {"command":\n"${../x}"}}}', ['2:8 servers.a.command']],
  ])('%s at once, each with its place', (_name, source, places) => {
    const told = errorOf(source).replace('CONFIG_INVALID: ', '').split('\n');
    const found = told.map((line) => {
      const [, at, path] = /^mcp\.json:(\d+:\d+): (servers\.[\w.]+)?/.exec(line) ?? [];
      return [at, path].filter((part) => part !== undefined).join(' ');
    });
    expect([...told, ...new Set(found)]).toEqual([...told, ...places]);
  });

  it.each([
    '{"servers": {"a": {',
    '{"servers": {"a": {"timeout": 1, ',
    '{"servers": {"a": {"url": "x" "command": "y"}',
    '{"servers": {"a": {"command": "x", "args": "y',
    '{"mcpServe',
  ])('and guesses nothing of what %s leaves out', (source) => {
    expect(errorOf(source)).toMatch(/^CONFIG_INVALID: mcp\.json:1:\d+: /);
    expect(errorOf(source)).not.toMatch(/servers\.a|neither/);
  });

  it.each([
    [{ mcpServer: {} }, 'has neither mcpServers nor servers; did you mean "mcpServers" by'],
    [{ mcp_servers: {} }, 'did you mean "mcpServers" by "mcp_servers"?'],
  ])('and what is meant by %j', (source, message) => {
    expect(errorOf(source)).toContain(message);
  });

  it('and what is meant by a key that is not read, with its place', () => {
    const source = '{"servers":{"a":{"command":"x",\n"argss":[], "zzzzz": 1}}}';
    expect(parseMcpConfig(source).notes).toEqual([
      'mcp.json:2:1: servers.a.argss: is not read; did you mean "args"?',
      'mcp.json:2:13: servers.a.zzzzz: is not read',
    ]);
  });

  fuzz(
    'whatever it is given, by CONFIG_INVALID and nothing else',
    fc.oneof(
      fc.string(),
      fc.json(),
      fc.anything(),
      fc.record({ mcpServers: fc.dictionary(fc.string(), fc.anything()) }),
      fc
        .record(
          { command: fc.string(), args: fc.array(fc.string()), url: fc.string() },
          { requiredKeys: [] },
        )
        .map((server) => ({ servers: { server } })),
    ),
    (source) => {
      expect(errorOf(source)).toMatch(/^(?:none|CONFIG_INVALID: )/);
    },
  );
});
