import type { ToolResult } from '@ethosagent/types';
import { expect, it } from 'vitest';
import { answers, createFakeBridge } from './fixtures/fake-host.js';
import { MAX_CURSOR_CHARS } from './limits.js';

const LIST = 'resources/list';
const TEMPLATES = 'resources/templates/list';
const UNKNOWN = { error: { code: -32601, message: 'unknown' } };
const BROKEN = { error: { code: -32603, message: 'no luck' } };

/** Lists the resources of a server. It answers each page, by method and cursor, as given. */
async function listResources(pages: Record<string, object>): Promise<ToolResult> {
  const { bridge, call } = createFakeBridge((message, process) => {
    const { method, params: { cursor = '' } = {} } = message;
    return pages[`${method}${cursor}`] ?? answers(message, process);
  });
  await bridge.start();
  return call('mcp__h__list_resources');
}

const page = (uri: string, nextCursor?: string) => ({
  resources: [{ uri, name: 'r' }],
  nextCursor,
});
const templates = { resourceTemplates: [{ uriTemplate: 't://{x}', name: 't' }] };

it('a list has all its pages, and the templates', async () => {
  const pages = { [LIST]: page('r://1', '2'), [`${LIST}2`]: page('r://2'), [TEMPLATES]: templates };
  expect(await listResources(pages)).toMatchObject({
    value: '"r://1" – r\n"r://2" – r\n"t://{x}" – t',
    structured: { count: 3, cut: false },
  });
});

it.each<[string, Record<string, object>]>([
  ['a later page', { [LIST]: page('r://1', '2'), [`${LIST}2`]: BROKEN, [TEMPLATES]: templates }],
  ['the second list', { [LIST]: page('r://1'), [TEMPLATES]: BROKEN }],
])('a list of which %s fails says so, and is not counted as whole', async (_what, pages) => {
  expect(await listResources(pages)).toMatchObject({
    value: expect.stringMatching(/^"r:\/\/1" – r\n\[there are perhaps more resources: .*no luck/),
    structured: { count: 1, cut: true },
  });
});

it('a list that fails at once is an error', async () => {
  expect(await listResources({ [LIST]: BROKEN, [TEMPLATES]: templates })).toMatchObject({
    ok: false,
    error: expect.stringContaining('no luck'),
  });
});

it.each<[string, Record<string, object>, string]>([
  ['resources', { [LIST]: UNKNOWN, [TEMPLATES]: templates }, '"t://{x}" – t'],
  ['templates', { [LIST]: page('r://1'), [TEMPLATES]: UNKNOWN }, '"r://1" – r'],
  [
    'templates and has no resources now',
    { [LIST]: { resources: [] }, [TEMPLATES]: UNKNOWN },
    'h has no resources now.',
  ],
])('a server may know no list of %s', async (_what, pages, value) => {
  expect(await listResources(pages)).toMatchObject({ ok: true, value });
});

it('a server that knows none of the lists gives an error', async () => {
  expect(await listResources({ [LIST]: UNKNOWN, [TEMPLATES]: UNKNOWN })).toMatchObject({
    ok: false,
    code: 'not_available',
    error: expect.stringContaining('does not support this request'),
  });
});

it('a list ends at a mark of a next page that is too long, and says that there is more', async () => {
  const next = 'x'.repeat(MAX_CURSOR_CHARS + 1);
  const pages = { [LIST]: page('r://1', next), [`${LIST}${next}`]: page('r://2') };
  expect(await listResources({ ...pages, [TEMPLATES]: UNKNOWN })).toMatchObject({
    value: '"r://1" – r\n[there are more resources than the first 1]',
    structured: { count: 1, cut: true },
  });
});
