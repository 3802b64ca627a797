import { describe, expect, it } from 'vitest';
import { WholeLines } from './whole-lines.js';

async function passed(chunks: readonly string[]): Promise<number[]> {
  const lines = new WholeLines({ readableHighWaterMark: 2 ** 30 });
  const sizes: number[] = [];
  lines.on('data', (data: Buffer) => sizes.push(data.length));
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  await new Promise((resolve) => lines.once('end', resolve));
  return sizes;
}

describe('WholeLines', () => {
  it('passes lines on as one, however they come, and no part of one', async () => {
    expect(await passed(['{"a"', ':1', '}\n{}\n{', '"b":2}\n', 'rest'])).toEqual([11, 8]);
  });

  it('passes on what is longer than the transport takes, which refuses it', async () => {
    const chunk = 'x'.repeat(4 * 1024 * 1024);
    expect(await passed([chunk, chunk, chunk, chunk])).toEqual([3 * chunk.length]);
  });
});
