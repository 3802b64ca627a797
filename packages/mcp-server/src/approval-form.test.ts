import type { ApprovalRequest } from '@ethosagent/core';
import { ElicitRequestFormParamsSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { approvalForm, readApprovalForm } from './approval-form.js';

const asked = (args: unknown, reason = 'it is asked'): ApprovalRequest => ({
  toolCallId: 'c',
  toolName: 'pay',
  args,
  capabilities: {},
  reason,
  workingDir: '/',
  sessionId: 's',
  signal: new AbortController().signal,
});

describe('approvalForm', () => {
  it.each([
    ['an object', { to: 'ann', dollars: 3 }],
    ['nothing', undefined],
    ['a long text', { text: 'x'.repeat(50_000) }],
  ])('of %s is a form of the protocol', (_, args) => {
    const form = approvalForm(asked(args), ['session', 'tool']);
    expect(ElicitRequestFormParamsSchema.safeParse(form).error).toBeUndefined();
  });

  it('shows what nobody would see', () => {
    const { message } = approvalForm(asked({ to: 'a\u202Eb' }, 'from \u200bx\n\u001b[2Jpage'), []);
    expect(message).toContain('a<U+202E>b');
    for (const hidden of ['\u200b', '\u202e', '\u001b']) expect(message).not.toContain(hidden);
    expect(message.split('\n')[0]).toContain('page');
  });

  it('says that it does not show all, and lets nobody edit what they have not seen', () => {
    const { message, requestedSchema } = approvalForm(asked({ text: 'x'.repeat(50_000) }), []);
    expect(message).toMatch(/cut: the arguments have 500\d\d characters/);
    expect(Object.keys(requestedSchema.properties)).toEqual(['approve', 'reason']);
  });

  it('offers the grants that may be given', () => {
    const { requestedSchema } = approvalForm(asked({}), ['session']);
    expect(requestedSchema.properties.always).toMatchObject({ enum: ['ask', 'session'] });
    expect(approvalForm(asked({}), []).requestedSchema.properties.always).toBeUndefined();
  });
});

describe('readApprovalForm', () => {
  const read = (content: Record<string, unknown>, args: unknown = { a: 1, b: 2 }) =>
    readApprovalForm(content, { args }, 'ann');

  it.each([
    ['nothing', {}],
    ['a text', { approve: 'true' }],
    ['a no with arguments', { approve: false, arguments: '{}', always: 'tool' }],
  ])('takes %s for a no', (_, content) => {
    expect(read(content)).toEqual({ approved: false, by: 'ann' });
  });

  it.each([
    ['no arguments', {}],
    ['the same arguments', { arguments: '{ "b": 2, "a": 1 }' }],
    ['empty arguments', { arguments: ' ' }],
    ['a grant that there is not', { always: 'ever' }],
    ['a grant of the prototype', { always: 'constructor' }],
    ['no grant', { always: 'ask' }],
  ])('takes %s for a plain yes', (_, content) => {
    expect(read({ approve: true, ...content })).toEqual({ approved: true, by: 'ann' });
  });

  it('takes other arguments, a grant and a reason', () => {
    expect(
      read({ approve: true, arguments: '{"a": 2}', always: 'arguments', reason: 'why' }),
    ).toEqual({ approved: true, by: 'ann', args: { a: 2 }, always: 'arguments', reason: 'why' });
    expect(read({ approve: false, reason: 'no' })).toMatchObject({ reason: 'no' });
  });

  it('says what is wrong with what is no JSON', () => {
    expect(read({ approve: true, arguments: '{a: 1}' })).toMatchObject({
      problem: expect.stringContaining('not JSON'),
    });
  });
});
