import { deflateSync } from 'node:zlib';
import { structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createFetchUrlTool } from './fetch-url.js';
import { makePdf, showText } from './fixtures/make-pdf.js';
import { createWebWorld, page, startServer } from './fixtures/web-world.js';
import { PDF_LIMITS, readPdf } from './pdf-text.js';

/** A check reads a tenth of the largest files, under a tenth of the limits. */
const part = (count: number) => tries({ check: count / 10, long: count });
const limits = {
  ...PDF_LIMITS,
  chars: part(PDF_LIMITS.chars),
  arrayBytes: part(PDF_LIMITS.arrayBytes),
  allArrayBytes: part(PDF_LIMITS.allArrayBytes),
  // This test only proves that the work is bounded.
  timeoutMs: 3_600_000,
};
const never = new AbortController().signal;

/** The beginning of a JPEG that says it has so many pixels a side, and no pixels. */
function jpegOf(side: number, components: number): Buffer {
  const ids = Array.from({ length: components }, (_, at) => at + 1);
  const segment = (marker: number, bytes: number[]) => [
    0xff,
    marker,
    0,
    bytes.length + 2,
    ...bytes,
  ];
  const [high, low] = [side >> 8, side & 0xff];
  const frame = [8, high, low, high, low, components, ...ids.flatMap((id) => [id, 0x11, 0])];
  const codes = [1, ...Array.from({ length: 16 }, () => 0)];
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xdb, [0, ...Array.from({ length: 64 }, () => 1)]),
    ...segment(0xc0, frame),
    ...segment(0xc4, [0x00, ...codes]),
    ...segment(0xc4, [0x10, ...codes]),
    ...segment(0xda, [components, ...ids.flatMap((id) => [id, 0]), 0, 63, 0]),
    ...Array.from({ length: 2_000 }, () => 0),
    ...[0xff, 0xd9],
  ]);
}

describe('readPdf', () => {
  it('gives the text by pages, with title and author', async () => {
    const pdf = makePdf([showText('First'), showText('Second')], {
      info: '/Title (The tide) /Author (Ada Marsh)',
    });
    expect(await readPdf(pdf, never)).toEqual({
      ok: true,
      pdf: {
        text: '[page 1 of 2]\n\nFirst\nand a second line\n\n[page 2 of 2]\n\nSecond\nand a second line',
        pages: 2,
        isCut: false,
        title: 'The tide',
        author: 'Ada Marsh',
      },
    });
  });

  const hostile: [what: string, pdf: () => Uint8Array][] = [
    ['no PDF', () => Buffer.from('%PDF-1.7 and nothing else')],
    [
      'a page tree that is a circle',
      () =>
        Buffer.from(
          makePdf(['']).toString('latin1').replace('/Kids [5 0 R]', '/Kids [2 0 R]'),
          'latin1',
        ),
    ],
    [
      'a stream that unpacks to more than is held',
      () =>
        makePdf([deflateSync(Buffer.alloc(part(100_000_000), 32))], {
          filter: '/Filter /FlateDecode',
        }),
    ],
    [
      'ten million operators',
      () =>
        makePdf([deflateSync(Buffer.alloc(part(70_000_000), '(a) Tj '))], {
          filter: '/Filter /FlateDecode',
        }),
    ],
  ];
  it.each(inCheck(hostile, ([what]) => what !== 'ten million operators'))(
    'survives %s',
    async (_, make) => {
      const pdf = make();
      const before = process.memoryUsage().rss;
      const reading = await readPdf(pdf, never, limits);
      expect(JSON.stringify(reading).length).toBeLessThan(part(5_000_000));
      expect(process.memoryUsage().rss - before).toBeLessThan(
        tries({ check: 250_000_000, long: 500_000_000 }),
      );
    },
  );

  it.each([
    ['one large array', 2_000, 1],
    ['many arrays', 1_700, 20],
  ])('reads no picture as text that takes %s', async (_, side, components) => {
    const pdf = makePdf([jpegOf(side, components)], { filter: '/Filter /DCTDecode' });
    const { arrayBytes, allArrayBytes } = PDF_LIMITS;
    const tenth = { ...limits, arrayBytes: arrayBytes / 10, allArrayBytes: allArrayBytes / 10 };
    expect(await readPdf(pdf, never, tenth)).toEqual({
      ok: false,
      reason: 'a part of the file unpacks to too much',
    });
  });

  it('runs no code of the document', async () => {
    const script = 'globalThis.pwned = true; app.alert(1)';
    const pdf = makePdf([showText('Calm')], {
      catalog: `/OpenAction << /S /JavaScript /JS (${script}) >>`,
    });
    expect(await readPdf(pdf, never)).toMatchObject({ ok: true });
    expect(Reflect.has(globalThis, 'pwned')).toBe(false);
  });

  it('ends with the signal', async () => {
    const turn = new AbortController();
    const reading = readPdf(makePdf([showText('x')]), turn.signal);
    turn.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await expect(readPdf(new Uint8Array(), turn.signal)).rejects.toThrow('enough');
  });
});

describe('fetch_url', () => {
  it('shows a PDF by pages, whatever the server calls it', async () => {
    const pdf = makePdf([showText('First')], { info: '/Title (The tide)' });
    const server = await startServer({
      '/a.pdf': page(pdf, { 'content-type': 'application/octet-stream' }),
      '/empty.pdf': page(makePdf(['']), { 'content-type': 'application/pdf' }),
      '/bad.pdf': page('%PDF-', { 'content-type': 'application/pdf' }),
    });
    const world = createWebWorld({ tools: [createFetchUrlTool()], allow: [server.host] });
    const get = (path: string) => world.run('fetch_url', { url: `${server.origin}${path}` });
    const result = await get('/a.pdf');
    expect(textOf(result)).toBe(
      `Title: The tide\nURL: ${server.origin}/a.pdf\nType: application/pdf, 1 page\n\n[page 1 of 1]\n\nFirst\nand a second line`,
    );
    expect(structuredOf(result)).toMatchObject({ kind: 'pdf', pages: 1, title: 'The tide' });
    expect(textOf(await get('/empty.pdf'))).toContain(
      '[The PDF has no text; its pages may be images.]',
    );
    expect(textOf(await get('/bad.pdf'))).toContain(
      '[The text of the PDF can not be shown: Invalid PDF structure.]',
    );
  });
});
