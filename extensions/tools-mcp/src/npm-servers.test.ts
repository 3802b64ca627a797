import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createWorld, NODE, npmServer } from './fixtures/world.js';

const everything = { command: NODE, args: [npmServer('server-everything'), 'stdio'] };
const PNG = /^iVBORw0KGgo/;

describe('server-everything, by stdio', () => {
  it('registers tools, resources and prompts, and calls them', async () => {
    const world = createWorld({ servers: { everything } });
    const [status] = await world.bridge.start();
    expect(status).toMatchObject({ server: 'everything', state: 'ready' });
    expect(status?.tools).toContain('mcp__everything__echo');
    expect(status?.held).toEqual([]);
    expect(await world.call('mcp__everything__echo', { message: 'hello' })).toMatchObject({
      ok: true,
      value: 'Echo: hello',
    });
    expect(await world.call('mcp__everything__get-sum', { a: 2, b: 3 })).toMatchObject({
      ok: true,
      value: expect.stringContaining('5'),
    });
    expect(await world.call('mcp__everything__list_resources', {})).toMatchObject({
      ok: true,
      value: expect.stringContaining('demo://resource/dynamic/text/{resourceId}'),
    });
    const uri = 'demo://resource/dynamic/text/1';
    expect(await world.call('mcp__everything__read_resource', { uri })).toMatchObject({
      ok: true,
      value: expect.stringContaining('plaintext resource'),
    });
    expect(await world.call('mcp__everything__list_prompts', {})).toMatchObject({
      ok: true,
      value: expect.stringContaining('args-prompt(city*, state)'),
    });
    const prompt = { name: 'args-prompt', arguments: { city: 'Oslo' } };
    expect(await world.call('mcp__everything__get_prompt', prompt)).toMatchObject({
      ok: true,
      value: expect.stringContaining('Oslo'),
    });
  });

  it.runIf(isLongRun())('keeps images, structured content, links and resources', async () => {
    const world = createWorld({ servers: { everything } });
    await world.bridge.start();
    expect(await world.call('mcp__everything__get-tiny-image', {})).toMatchObject({
      ok: true,
      structured: { images: [{ mediaType: 'image/png', data: expect.stringMatching(PNG) }] },
    });
    expect(
      await world.call('mcp__everything__get-structured-content', { location: 'New York' }),
    ).toMatchObject({
      ok: true,
      value: expect.stringContaining('temperature'),
      structured: { structuredContent: { temperature: expect.any(Number) } },
    });
    expect(await world.call('mcp__everything__get-resource-links', { count: 2 })).toMatchObject({
      ok: true,
      structured: { links: [{ uri: expect.stringMatching(/^demo:/) }, {}] },
    });
    const reference = { resourceType: 'Text', resourceId: 1 };
    expect(await world.call('mcp__everything__get-resource-reference', reference)).toMatchObject({
      ok: true,
      structured: { resources: [{ uri: 'demo://resource/dynamic/text/1' }] },
    });
    expect(
      await world.call('mcp__everything__get-annotated-message', {
        messageType: 'error',
        includeImage: true,
      }),
    ).toMatchObject({
      ok: true,
      structured: { images: [{ mediaType: 'image/png' }] },
    });
  });

  it.runIf(isLongRun())('passes progress on, and tells the server of an abort', async () => {
    const world = createWorld({ servers: { everything } });
    await world.bridge.start();
    const name = 'mcp__everything__trigger-long-running-operation';
    expect(await world.call(name, { duration: 1, steps: 2 })).toMatchObject({ ok: true });
    expect(world.events).toContainEqual(
      expect.objectContaining({ type: 'progress', toolName: name, percent: 100, audience: 'user' }),
    );
    const abort = new AbortController();
    const onEmit = () => abort.abort();
    const result = await world.call(
      name,
      { duration: 20, steps: 40 },
      { abortSignal: abort.signal, onEmit },
    );
    expect(result.ok).toBe(false);
    expect(await world.call('mcp__everything__echo', { message: 'on' })).toMatchObject({
      ok: true,
    });
  });

  it('gives the server its declared environment and secrets, and nothing else', async () => {
    const world = createWorld({
      servers: {
        everything: {
          ...everything,
          env: { MODE: 'test', TOKEN: '${API_TOKEN}', D: '${NO:-dflt}' },
        },
      },
      secrets: { 'mcp/everything/API_TOKEN': 'very-secret-value' },
      backends: { processEnv: { PATH: process.env.PATH ?? '', LANG: 'C' } },
    });
    await world.bridge.start();
    const result = await world.call('mcp__everything__get-env', {});
    expect(result).toMatchObject({ ok: true });
    const env = JSON.parse(result.ok ? result.value : '{}');
    expect(Object.keys(env).sort()).toEqual(expect.arrayContaining(['D', 'LANG', 'MODE', 'TOKEN']));
    expect(env).not.toHaveProperty('HOME');
    expect(env).toMatchObject({
      MODE: 'test',
      D: 'dflt',
      TOKEN: expect.stringContaining('[secret:'),
    });
    expect(JSON.stringify(result)).not.toContain('very-secret-value');
  });

  it.runIf(isLongRun())('tells the server the reach of the personality as its roots', async () => {
    const world = createWorld({ servers: { everything } });
    await world.bridge.start();
    expect(await world.call('mcp__everything__get-roots-list', {})).toMatchObject({
      ok: true,
      value: expect.stringContaining(pathToFileURL(world.folder).href),
    });
  });
});

describe('server-filesystem', () => {
  it('works within the roots that it is told, and answers errors as errors', async () => {
    const world = createWorld({
      servers: {
        files: { command: NODE, args: [npmServer('server-filesystem'), '${workspaceFolder}'] },
      },
    });
    await world.bridge.start();
    writeFileSync(join(world.folder, 'a.txt'), 'from a file');
    const path = join(world.folder, 'a.txt');
    expect(await world.call('mcp__files__read_text_file', { path })).toMatchObject({
      ok: true,
      value: 'from a file',
    });
    const denied = await world.call('mcp__files__read_text_file', { path: '/usr/none.txt' });
    expect(denied).toMatchObject({ ok: false, code: 'execution_failed' });
    const target = join(world.folder, 'b.txt');
    const dry = { path: target, content: 'x' };
    expect(await world.call('mcp__files__write_file', dry, { dryRun: true })).toMatchObject({
      ok: true,
      value: expect.stringContaining('[dry-run]'),
    });
    expect(existsSync(target)).toBe(false);
    expect(await world.call('mcp__files__write_file', dry)).toMatchObject({ ok: true });
    expect(readFileSync(target, 'utf8')).toBe('x');
  });
});

describe('server-memory', () => {
  it.runIf(isLongRun())('keeps a graph for each personality by itself', async () => {
    const world = createWorld({
      servers: {
        memory: {
          command: NODE,
          args: [npmServer('server-memory')],
          env: { MEMORY_FILE_PATH: '${workspaceFolder}/graph.json' },
        },
      },
    });
    await world.bridge.start('a');
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }];
    const as = { personalityId: 'a' };
    expect(await world.call('mcp__memory__create_entities', { entities }, as)).toMatchObject({
      ok: true,
    });
    expect(await world.call('mcp__memory__read_graph', {}, as)).toMatchObject({
      ok: true,
      value: expect.stringContaining('likes tea'),
      structured: { structuredContent: { entities: [{ name: 'Ada' }] } },
    });
    expect(await world.call('mcp__memory__read_graph', {}, { personalityId: 'b' })).toMatchObject({
      ok: true,
    });
    expect(world.bridge.status().map(({ personality, state }) => [personality, state])).toEqual([
      ['a', 'ready'],
      ['b', 'ready'],
    ]);
  });
});
