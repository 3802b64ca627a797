import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createBrowserTools } from '@ethosagent/tools-browser';
import { createCodeTools } from '@ethosagent/tools-code';
import { createDelegationTools } from '@ethosagent/tools-delegation';
import { createFileTools } from '@ethosagent/tools-file';
import { createMemoryTools } from '@ethosagent/tools-memory';
import { createTerminalTools, terminalReducer } from '@ethosagent/tools-terminal';
import { createTodoTools } from '@ethosagent/tools-todo';
import { createWebTools } from '@ethosagent/tools-web';
import { describe, expect, it, vi } from 'vitest';
import { EXTENSION_TOOLS } from './extension-tools.js';
import { createToolRuntime } from './tool-runtime.js';
import { installedTools, pickTools } from './tools-by-name.js';

const ALL = [
  ...createFileTools(),
  ...createTerminalTools(),
  ...createCodeTools(),
  ...createWebTools(),
  ...createMemoryTools(),
  ...createTodoTools(),
  ...createDelegationTools(),
  ...createBrowserTools(),
].map(({ name }) => name);

describe('pickTools', () => {
  it('knows every tool of every extension, and gives them in the order that they were named', async () => {
    const names = [...ALL].reverse();
    const { tools } = await pickTools(names);
    expect(tools.map(({ name }) => name)).toEqual(names);
  });

  it('has a folder of extensions for each package, and the label of its group', async () => {
    const folders = readdirSync(new URL('../../../extensions', import.meta.url));
    // The tools of this extension come from its servers.
    const named = folders
      .filter((name) => name !== 'tools-mcp')
      .map((name) => `@ethosagent/${name}`);
    expect(Object.keys(EXTENSION_TOOLS).sort()).toEqual(named.sort());
    for (const { group, tools } of Object.values(EXTENSION_TOOLS)) {
      const picked = await pickTools(tools);
      expect(picked.tools.map(({ toolset }) => toolset)).toEqual(tools.map(() => group));
    }
  });

  it('says of a list of tools in the list how to spread it', async () => {
    const tools = [createTodoTools()];
    await expect(pickTools(Object(tools))).rejects.toThrow(
      'CONFIG_INVALID: tools[0] is a list; spread it, as in tools: [...createFileTools()]',
    );
  });

  it('refuses what is no list', async () => {
    await expect(pickTools(Object('read_file'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('takes tools and names together, and the reducer of what was named', async () => {
    const [own] = createTodoTools();
    const { tools, reducers } = await pickTools([...(own ? [own] : []), 'terminal', 'lint']);
    expect(tools.map(({ name }) => name)).toEqual(['todo_set', 'terminal', 'lint']);
    expect(reducers).toEqual([terminalReducer]);
  });

  it('refuses another tool of the same name, of which one would have no effect', async () => {
    const [own] = createTodoTools();
    if (own === undefined) throw new Error('there are no tools');
    expect((await pickTools([own, own, 'lint', 'lint'])).tools).toHaveLength(4);
    await expect(pickTools([own.name, { ...own }])).rejects.toThrow(
      'TOOL_NAME_TAKEN: tools: two tools have the name "todo_set"; leave one out',
    );
  });

  it.each([
    ['a name that is near', 'web_serach', 'did you mean "web_search"?'],
    ['an invalid name', 'teleport', 'there are read_file, write_file'],
    [
      'a name that begins as a group',
      'todocount',
      'there are todo_set, todo_add, todo_update, todo_list, todo_clear',
    ],
    ['a part of a name', 'search', 'there are search_files, web_search, session_search'],
    ['a group', 'file', '"file" is a group; name its tools: read_file, write_file'],
    ['a name from Object', 'constructor', 'no extension has a tool'],
    ['nothing', '', 'no extension has a tool ""'],
  ])('refuses %s', async (_what, name, message) => {
    const refused = pickTools([name]);
    await expect(refused).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(pickTools([name])).rejects.toThrow(message);
  });

  it('suggests a tool that the host gives itself', async () => {
    const [own] = createTodoTools();
    if (own === undefined) throw new Error('no tool');
    const named = pickTools([{ ...own, name: 'todo_count' }, 'todocount']);
    await expect(named).rejects.toThrow(
      'did you mean "todo_count"? The host gives that tool itself',
    );
  });

  it('names the package that is not installed', async () => {
    vi.doMock('@ethosagent/tools-todo', () => {
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    });
    try {
      await expect(pickTools(['todo_add'])).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('@ethosagent/tools-todo'),
      });
    } finally {
      vi.doUnmock('@ethosagent/tools-todo');
    }
  });
});

describe('createToolRuntime with names', () => {
  it('runs what was picked, filtered by the toolset of the personality', async () => {
    const home = mkdtempSync(join(tmpdir(), 'by-name-'));
    const file = join(home, 'personalities', 'p', 'config.yaml');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'name: P\ntoolset: [todo]\n');
    const tools = ['todo_add', 'todo_list', 'memory_read'];
    const runtime = await createToolRuntime({ home, personality: 'p', cwd: home, tools });
    try {
      expect((await runtime.definitions()).map(({ name }) => name)).toEqual([
        'todo_add',
        'todo_list',
      ]);
      const [added] = await runtime.execute([
        { toolCallId: '1', name: 'todo_add', args: { items: [{ text: 'water the plants' }] } },
      ]);
      expect(added?.result).toMatchObject({ ok: true });
    } finally {
      await runtime.close();
      rmSync(home, { recursive: true });
    }
  });

  it('does not start with a name that nobody has', async () => {
    const options = { home: tmpdir(), personality: 'p', tools: ['todo_ad'] };
    await expect(createToolRuntime(options)).rejects.toThrow('did you mean "todo_add"?');
  });
});

describe('installedTools', () => {
  it('gives all', () => {
    expect(installedTools()).toEqual(ALL);
  });

  it('gives those of the extensions that personalities name, by tools, groups or settings', () => {
    const personalities = [
      { toolset: ['read_file'] },
      { toolset: ['todo'], tool_settings: { web_search: {} } },
    ];
    const given = [...createFileTools(), ...createWebTools(), ...createTodoTools()];
    expect(installedTools(personalities)).toEqual(given.map(({ name }) => name));
    expect(installedTools([{ toolset: [] }])).toEqual([]);
  });

  it.each<[string, Parameters<typeof installedTools>[0]]>([
    ['has no toolset', [{ toolset: ['todo'] }, {}]],
    ['names what no extension has', [{ toolset: ['read_fil'] }]],
    ['sets what no extension has', [{ toolset: ['todo'], tool_settings: { serach: {} } }]],
  ])('gives all where a personality %s', (_what, personalities) => {
    expect(installedTools(personalities)).toEqual(ALL);
  });
});
