import { createHash, createHmac } from 'node:crypto';
import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AuditChain, verifyAuditChain } from './audit-chain.js';
import { chainHash } from './chain.js';
import { auditEvent } from './fixtures/audit-event.js';

const key = 'a key of 16 bytes or more';

describe('chainHash', () => {
  fuzz(
    'is the hash of the previous hash and the text, of whatever text, with and without a key',
    fc.record({
      secret: fc.option(fc.uint8Array({ minLength: 16, maxLength: 100 }), { nil: undefined }),
      previous: fc.constantFrom('log', 'head', 'f'.repeat(64)),
      text: fc.oneof(anyText(), fc.uint8Array()),
    }),
    ({ secret, previous, text }) => {
      const expected =
        secret === undefined ? createHash('sha256') : createHmac('sha256', Buffer.from(secret));
      expect(chainHash(secret)(previous, text)).toBe(
        expected.update(previous).update(text).digest('hex'),
      );
    },
  );

  it('keeps its key when the bytes that it was given are wiped', () => {
    const secret = Buffer.alloc(32, 0xa7);
    const hashOf = chainHash(secret);
    const before = hashOf('log', 'a');
    secret.fill(0);
    expect(hashOf('log', 'a')).toBe(before);
  });
});

describe('AuditChain', () => {
  it.each([[{}], [{ key }]])(
    'gives the head of each line, whenever it is read: %j',
    async (options) => {
      const chain = new AuditChain(options);
      const lines = ['a', 'b', 'c'].map((target) => chain.add(auditEvent(target)));
      for (const [index, line] of lines.entries()) {
        const { head } = { ...line };
        expect(head).toBe(line.head);
        const report = await verifyAuditChain({
          ...options,
          name: 'chain',
          id: chain.id,
          readHead: async () => head,
          lines: lines.slice(0, index + 1).map(({ bytes }) => bytes),
        });
        expect(report).toMatchObject({ ok: true, events: index + 1 });
      }
    },
  );

  it('has the event as it was when it was added', async () => {
    const chain = new AuditChain({ key });
    const event = auditEvent('before');
    const line = chain.add(event);
    event.target = 'after';
    expect(Buffer.from(line.bytes).toString()).toContain('"target":"before"');
  });
});
