import { describe, expect, it } from 'vitest';
import { rejection } from '../testing/batch.js';
import { ScopedAttachmentsImpl } from './scoped-attachments.js';

const info = (id: string, mediaType: string) => ({
  id,
  name: `${id}.bin`,
  mediaType,
  sizeBytes: 1,
});
const turn = [
  { ...info('png', 'image/png'), bytes: new Uint8Array([1]) },
  { ...info('text', 'Text/Plain; charset=utf-8'), bytes: new Uint8Array([2]) },
  info('stored', 'image/png'),
  info('gone', 'image/png'),
];
const store = {
  put: async () => info('x', 'image/png'),
  get: async (id: string) => (id === 'stored' || id === 'other-turn' ? new Uint8Array([3]) : null),
};

describe('ScopedAttachmentsImpl', () => {
  it.each<[string[] | undefined, string[]]>([
    [undefined, ['png', 'text', 'stored', 'gone']],
    [['*/*'], ['png', 'text', 'stored', 'gone']],
    [['image/*'], ['png', 'stored', 'gone']],
    [['IMAGE/PNG'], ['png', 'stored', 'gone']],
    [['text/plain'], ['text']],
    [['text/pl'], []],
    [['image'], []],
    [[], []],
  ])('list with media types %j: %j', async (mediaTypes, ids) => {
    const attachments = new ScopedAttachmentsImpl(turn, {
      store,
      ...(mediaTypes && { mediaTypes }),
    });
    const listed = await attachments.list();
    expect(listed.map(({ id }) => id)).toEqual(ids);
    for (const entry of listed)
      expect(Object.keys(entry)).toEqual(['id', 'name', 'mediaType', 'sizeBytes']);
  });

  it.each<[string, string[] | undefined, unknown]>([
    ['png', undefined, new Uint8Array([1])],
    ['stored', undefined, new Uint8Array([3])],
    ['gone', undefined, 'FILE_NOT_FOUND'],
    ['other-turn', undefined, 'ATTACHMENT_NOT_AVAILABLE'],
    ['../stored', undefined, 'ATTACHMENT_NOT_AVAILABLE'],
    ['__proto__', undefined, 'ATTACHMENT_NOT_AVAILABLE'],
    ['png', ['text/plain'], 'ATTACHMENT_NOT_AVAILABLE'],
    ['text', ['text/plain'], new Uint8Array([2])],
  ])('read of %s with media types %j', async (id, mediaTypes, expected) => {
    const attachments = new ScopedAttachmentsImpl(turn, {
      store,
      ...(mediaTypes && { mediaTypes }),
    });
    if (typeof expected === 'string') {
      expect(await rejection(attachments.read(id))).toMatchObject({ code: expected });
    } else {
      expect(await attachments.read(id)).toEqual(expected);
    }
  });

  it('reads bytes that came under two media types, if the tool declared one of them', async () => {
    const bytes = new Uint8Array([4]);
    const both = ['image/png', 'text/plain'].map((type) => ({ ...info('both', type), bytes }));
    for (const mediaTypes of [['image/png'], ['text/plain'], ['audio/*']]) {
      const attachments = new ScopedAttachmentsImpl(both, { mediaTypes });
      const read = attachments.read('both').catch(() => 'refused');
      const isListed = (await attachments.list()).length === 1;
      expect(await read).toEqual(isListed ? bytes : 'refused');
    }
  });

  it('gives no bytes that a host passed as something else', async () => {
    for (const bytes of [new ArrayBuffer(3), 'abc', [1, 2]]) {
      const given = [{ ...info('a', 'text/plain'), bytes }];
      const attachments: ScopedAttachmentsImpl = Reflect.construct(ScopedAttachmentsImpl, [given]);
      expect(await rejection(attachments.read('a'))).toMatchObject({ code: 'VALUE_INVALID' });
    }
  });

  it('gives a copy of the bytes', async () => {
    const attachments = new ScopedAttachmentsImpl(turn);
    (await attachments.read('png')).fill(9);
    expect(await attachments.read('png')).toEqual(new Uint8Array([1]));
  });
});
