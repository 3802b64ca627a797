import type { SessionResult } from '@ethosagent/core';
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

  it('keeps a payload from a client that others may have had a hand in', () => {
    const made = callResultOf(answer({ untrusted: true }), { sessionId: 's', isStructured: true });
    expect(made.structuredContent).toBeUndefined();
    expect(made).toMatchObject({ isError: true, content: [{}, { text: 'marked' }] });
    expect(JSON.stringify(made.content[0])).toContain('has run');
  });
});
