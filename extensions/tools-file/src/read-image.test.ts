import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { createTestFolder, pngOf, SAMPLE_IMAGES, samplePng } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createFileWorld } from './fixtures/file-world.js';

const read = (world: ReturnType<typeof createFileWorld>, path: string) =>
  world.run('read_file', { path });

describe('read_file of an image', () => {
  it.each(Object.entries(SAMPLE_IMAGES))(
    'gives a %s, whatever it is called',
    async (_name, { mediaType, bytes }) => {
      const world = createFileWorld();
      world.put('picture.txt', bytes);
      const result = await read(world, 'picture.txt');
      expect(textOf(result)).toBe(
        `[picture.txt is an image, ${mediaType}, 3 × 2 pixels, ${bytes.length} bytes]`,
      );
      expect(structuredOf(result)).toMatchObject({
        width: 3,
        height: 2,
        images: [{ mediaType, data: bytes.toString('base64') }],
      });
      expect(world.records.size).toBe(0);
    },
  );

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'],
    ['HTML', '<!doctype html><script>1</script>'],
    ['text that begins like a GIF', 'GIF89a is how a GIF begins.\n'],
  ])('shows %s that is called a PNG as the text that it is', async (_name, text) => {
    const world = createFileWorld();
    world.put('picture.png', text);
    const result = await read(world, 'picture.png');
    expect(textOf(result)).toBe(text);
    expect(structuredOf(result)).not.toHaveProperty('images');
  });

  it.each([
    ['is cut off', samplePng(3, 2).subarray(0, -6), 'IMAGE_INVALID', 'it is cut off'],
    [
      'holds HTML behind its begin',
      Buffer.concat([samplePng(3, 2).subarray(0, 8), Buffer.from('<html>\0\xff')]),
      'IMAGE_INVALID',
      'it is',
    ],
    [
      'is a bomb',
      pngOf(60_000, 60_000, Buffer.alloc(9)),
      'IMAGE_TOO_LARGE',
      '60000 × 60000 pixels',
    ],
    [
      'has too many bytes',
      Buffer.concat([samplePng(3, 2), Buffer.alloc(20_000_000)]),
      'IMAGE_TOO_LARGE',
      'bytes',
    ],
  ])('refuses one that %s', async (_name, bytes, cause, why) => {
    const world = createFileWorld();
    world.put('picture.png', bytes);
    const result = await read(world, 'picture.png');
    expect(result).toMatchObject({ ok: false, code: 'execution_failed', cause });
    expect(errorOf(result)).toContain(why);
  });

  it('reads none outside the reach, also through a link', async () => {
    const world = createFileWorld();
    const folder = createTestFolder('outside-images');
    writeFileSync(join(folder.outside, 'theirs.png'), samplePng(3, 2));
    world.put('here.txt', 'x');
    symlinkSync(join(folder.outside, 'theirs.png'), join(world.dir, 'link.png'));
    for (const path of [join(folder.outside, 'theirs.png'), 'link.png']) {
      const result = await read(world, path);
      expect(errorOf(result)).toContain('PATH_NOT_REACHABLE');
      expect(JSON.stringify(result)).not.toContain('iVBOR');
    }
    folder.remove();
  });
});
