import type { SessionResult } from '@ethosagent/core';
import { samplePng } from '@ethosagent/test-support';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { callResultOf } from './call-result.js';

const answer = (more: Partial<SessionResult> = {}): SessionResult => ({
  toolCallId: 'c',
  name: 't',
  result: { ok: true, value: 'raw', structured: { a: 1 } },
  text: 'marked',
  images: [],
  durationMs: 0,
  ...more,
});
const failed = { ok: false, code: 'execution_failed', error: 'raw' } as const;

describe('callResultOf', () => {
  it.each([
    ['a text', answer(), false, {}],
    ['a structured result', answer(), true, { structuredContent: { a: 1 } }],
    [
      'a result without a payload',
      answer({ result: { ok: true, value: '' } }),
      true,
      { structuredContent: {} },
    ],
    ['a failure', answer({ result: failed }), false, { isError: true }],
    ['a failure of a structured tool', answer({ result: failed }), true, { isError: true }],
  ])('of %s has the text that the model may read', (_, given, isStructured, expected) => {
    const made = callResultOf(given, { sessionId: 's', isStructured });
    expect(made).toEqual({ content: [{ type: 'text', text: 'marked' }], ...expected });
    expect(CallToolResultSchema.safeParse(made).success).toBe(true);
  });

  it('of a payload with images has their bytes as image content alone, of those that are shown', () => {
    const [shown, large] = [samplePng(3, 2), samplePng(9_000, 2)].map((bytes) => ({
      mediaType: 'image/png',
      data: bytes.toString('base64'),
    }));
    if (shown === undefined) throw new Error('no image');
    const structured = { a: 1, images: [shown, large, 'no image'] };
    const given = answer({ images: [shown], result: { ok: true, value: '', structured } });
    const made = callResultOf(given, { sessionId: 's', isStructured: true });
    expect(made.content).toEqual([
      { type: 'text', text: 'marked' },
      { type: 'image', mimeType: 'image/png', data: shown.data },
    ]);
    const fact = { mediaType: 'image/png', sha256: expect.any(String) };
    expect(made.structuredContent).toEqual({
      a: 1,
      images: [
        { ...fact, sizeBytes: samplePng(3, 2).length },
        { ...fact, sizeBytes: samplePng(9_000, 2).length },
        'no image',
      ],
    });
  });

  it('keeps a payload from a client that others may have had a hand in', () => {
    const made = callResultOf(answer({ untrusted: true }), { sessionId: 's', isStructured: true });
    expect(made.structuredContent).toBeUndefined();
    expect(made).toMatchObject({ isError: true, content: [{}, { text: 'marked' }] });
    expect(JSON.stringify(made.content[0])).toContain('has run');
  });
});
