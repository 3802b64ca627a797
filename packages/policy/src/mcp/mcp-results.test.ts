import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mcpToolResult, readMcpAnswer } from './mcp-results.js';

const origin = { server: 's', tool: 't' };
const MB = 1_000_000;

describe('mcpToolResult', () => {
  it.each([
    ['MCP error -32602: Input validation error: Invalid arguments for tool t: []', 'input_invalid'],
    ["Input validation error: 'x' is not of type 'number'", 'input_invalid'],
    ['Error executing tool t: 1 validation error for tArguments\na\n  Field', 'input_invalid'],
    ['MCP error -32602: Tool t not found', 'not_available'],
    ['Unknown tool: t', 'not_available'],
    ['Error executing tool t: no such file', 'execution_failed'],
    ['it said MCP error -32602: of another', 'execution_failed'],
  ])('has for the failure %j the code %s', (text, code) => {
    const answer = { isError: true, content: [{ type: 'text', text }] };
    expect(mcpToolResult(answer, origin)).toEqual({ ok: false, error: text, code });
  });

  it('shows texts, and names the rest', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'QUJD', mimeType: 'image/png' },
      { type: 'audio', data: 'QUJD', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'r://1', text: 'inside', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'r://2', blob: 'QUJD', mimeType: 'image/gif' } },
      { type: 'resource', resource: { uri: 'r://3', blob: 'QUJD' } },
      { type: 'resource_link', uri: 'r://4', name: 'four' },
    ];
    expect(mcpToolResult({ content }, origin)).toEqual({
      ok: true,
      value: [
        'one',
        '[image: image/png, 3 bytes]',
        '[audio: audio/wav, 3 bytes]',
        '[resource r://1]\ninside',
        '[resource r://2: image/gif, 3 bytes]',
        '[resource r://3: binary, 3 bytes]',
        '[link to the resource r://4: four]',
      ].join('\n'),
      structured: {
        images: [
          { mediaType: 'image/png', data: 'QUJD' },
          { mediaType: 'image/gif', data: 'QUJD' },
        ],
        audio: [{ mediaType: 'audio/wav', data: 'QUJD' }],
        resources: [
          { uri: 'r://1', mimeType: 'text/plain' },
          { uri: 'r://3', blob: 'QUJD' },
        ],
        links: [{ uri: 'r://4', name: 'four' }],
        mcp: origin,
      },
    });
  });

  it.each([
    ['no type', {}, 'image'],
    [
      'a type that says nothing',
      { mimeType: 'application/octet-stream' },
      'application/octet-stream',
    ],
  ])('takes a blob of %s for an image where it begins like one', (_name, type, mediaType) => {
    const blob = 'iVBORw0KGgoAAAANSUhEUgAAAAE=';
    const content = [{ type: 'resource', resource: { uri: 'r://1', blob, ...type } }];
    const made = mcpToolResult({ content }, origin);
    expect(made.ok && made.structured?.images).toEqual([{ mediaType, data: blob }]);
  });

  it.each([
    ['structured content alone', { structuredContent: { a: 1 } }, true, '{"a":1}'],
    ['nothing', {}, true, ''],
    ['a failure', { isError: true, content: [{ type: 'text', text: 'no' }] }, false, 'no'],
    ['a failure without words', { isError: true }, false, 's says that it failed, and not why'],
  ])('tells of %s', (_name, result, ok, text) => {
    const made = mcpToolResult(result, origin);
    expect(made.ok).toBe(ok);
    expect(made.ok ? made.value : made.error).toBe(text);
  });

  it('leaves out what is too much', () => {
    const image = { type: 'image', data: 'A'.repeat(3 * MB), mimeType: 'image/png' };
    const many = mcpToolResult({ content: Array.from({ length: 5 }, () => image) }, origin);
    expect(many.ok && many.structured?.images).toHaveLength(2);
    expect(many.ok && many.value).toContain('left out');
    const text = { type: 'text', text: 'x'.repeat(600_000) };
    const long = mcpToolResult({ content: [text, text, text] }, origin);
    expect(long.ok && long.value.length).toBeLessThan(1_000_100);
    const parts = Array.from({ length: 5_000 }, () => ({ type: 'text', text: 'x' }));
    const split = mcpToolResult({ content: parts }, origin);
    expect(split.ok && split.value).toContain('[4000 more parts are left out]');
  });

  fuzz(
    'never throws, whatever a server answers',
    fc.record(
      {
        content: fc.array(
          fc.oneof(
            fc.anything(),
            fc.record({ type: fc.constantFrom('text', 'image', 'resource'), text: fc.anything() }),
          ),
        ),
        structuredContent: fc.jsonValue(),
        isError: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    (answer) => {
      const read = readMcpAnswer(answer);
      expect(read).toBeDefined();
      if (read !== undefined) expect(typeof mcpToolResult(read, origin).ok).toBe('boolean');
    },
  );
});

describe('readMcpAnswer', () => {
  it.each([[null], ['x'], [[]], [{ content: 'x' }], [{ isError: 1 }]])('takes no %j', (value) => {
    expect(readMcpAnswer(value)).toBeUndefined();
  });
});
