import { tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { docxToHtml } from './docx-html.js';
import { makeDocx } from './fixtures/make-docx.js';

const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

describe('docxToHtml', () => {
  it('gives paragraphs and tables, and leaves media packed', async () => {
    const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
    const table = `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr></w:tbl>`;
    const media = {
      'word/media/x.bin': new Uint8Array(tries({ check: 70_000_000, long: 200_000_000 })),
    };
    const html = await docxToHtml(makeDocx(paragraph('At noon.') + table, media));
    expect(html).toBe(
      '<main><p>At noon.</p><table><tr><td><p>a</p></td><td><p>b</p></td></tr></table></main>',
    );
  });

  it.each([
    ['a part that unpacks to too much', makeDocx(`<!--${' '.repeat(70_000_000)}-->`)],
    ['no archive', new TextEncoder().encode('PK no')],
    ['an archive that ends early', makeDocx(paragraph('x')).subarray(0, 300)],
  ])('refuses %s', async (_, bytes) => {
    await expect(docxToHtml(bytes)).rejects.toThrow();
  });
});
