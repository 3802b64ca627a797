import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeText, encodeText } from './text-encoding.js';

describe('decodeText', () => {
  const languages: [encoding: string, text: string][] = [
    ['windows-1251', 'Привет, как дела? Это текст.'],
    ['koi8-r', 'Привет, как дела? Это текст на русском языке.'],
    ['shift_jis', 'こんにちは世界。今日はいい天気ですね。'],
    ['gb18030', '你好，世界，今天天气很好'],
    ['windows-1252', 'naïve café'],
    ['utf-32le', 'with a byte order mark'],
  ];
  it.each(languages)('recognises %s', async (encoding, text) => {
    const bytes = iconv.encode(text, encoding, { addBOM: encoding.startsWith('utf') });
    expect(await decodeText(bytes)).toMatchObject({ text, encoding, lossy: false });
  });

  it('takes UTF-8 with a few broken bytes for UTF-8, and says that it is broken', async () => {
    const bytes = Buffer.concat([Buffer.from('größer, schöner, übler'), Buffer.from([0xff])]);
    expect(await decodeText(bytes)).toMatchObject({ encoding: 'utf-8', lossy: true });
  });

  it.each([
    ['zeros', Buffer.alloc(64)],
    ['numbers of 16 bits', Buffer.from(Uint16Array.from([1, 2, 3, 4, 5, 6]).buffer)],
    ['control characters', Buffer.from([0xff, 1, 2, 3, 4, 5, 6, 7, 0x80])],
  ])('takes %s for binary', async (_what, bytes) => {
    expect(await decodeText(bytes)).toBeUndefined();
  });
});

describe('encodeText', () => {
  it.each([
    ['漢', 'windows-1252'],
    ['\ud83d', 'utf-8'],
  ])('has no bytes for %j in %s', async (text, encoding) => {
    expect(await encodeText(text, { encoding, bom: false })).toBeUndefined();
  });
});
