import { describe, expect, it } from 'vitest';
import { ToolCallError } from './tool-call-error.js';

const result = { ok: false, code: 'not_available', error: 'no', cause: 'NOT_APPROVED' } as const;

describe('ToolCallError', () => {
  it('says what the model reads, and why', () => {
    const error = new ToolCallError({ toolCallId: 'a', result });
    expect(error).toMatchObject({ toolCallId: 'a', code: 'not_available', cause: 'NOT_APPROVED' });
    expect([error.message, String(error)]).toEqual(['not_available: no', 'not_available: no']);
    expect(error.approval).toBeUndefined();
  });

  it('takes the text of the session where there is one, which may be marked', () => {
    expect(new ToolCallError({ toolCallId: 'a', result, text: 'marked' }).message).toBe('marked');
  });
});
