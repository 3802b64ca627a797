import { type ImageBytes, ImageProblem, type ImageSize } from './image-problem.js';

const LIES = 'a picture in it has another size than it says';

/** The size of a WebP. Every picture in it must have that size at most. Source: RFC 9649. */
export function webpSize(file: ImageBytes): ImageSize {
  const end = 8 + file.u32(4, true);
  if (end > file.length) throw new ImageProblem('it is cut off');
  const canvas = file.text(12, 4) === 'VP8X' ? canvasOf(file) : undefined;
  let first: ImageSize | undefined;
  for (const { name, at, length } of chunks(file, 12, end)) {
    if (name === 'ANMF') {
      const frame = { width: file.u24(at + 6) + 1, height: file.u24(at + 9) + 1 };
      const left = 2 * file.u24(at);
      const top = 2 * file.u24(at + 3);
      const isInside =
        canvas !== undefined &&
        left + frame.width <= canvas.width &&
        top + frame.height <= canvas.height;
      if (!isInside) throw new ImageProblem(LIES);
      for (const inner of chunks(file, at + 16, at + length)) {
        const size = pictureOf(file, inner);
        if (size !== undefined) assertSame(size, frame);
      }
      first ??= frame;
      continue;
    }
    const size = pictureOf(file, { name, at });
    if (size === undefined) continue;
    if (canvas !== undefined) assertSame(size, canvas);
    else if (first !== undefined) assertSame(size, first);
    first ??= size;
  }
  if (first === undefined) throw new ImageProblem('it holds no picture');
  return canvas ?? first;
}

interface Chunk {
  name: string;
  /** The offset of its content. */
  at: number;
  length: number;
}

function* chunks(file: ImageBytes, from: number, end: number): Generator<Chunk> {
  for (let at = from; at + 8 <= end; ) {
    const length = file.u32(at + 4, true);
    if (at + 8 + length > end) throw new ImageProblem('it is cut off');
    yield { name: file.text(at, 4), at: at + 8, length };
    // Chunks begin at even offsets.
    at += 8 + length + (length % 2);
  }
}

function canvasOf(file: ImageBytes): ImageSize {
  return { width: file.u24(24) + 1, height: file.u24(27) + 1 };
}

/** The size in the data of the picture itself, which a decoder uses. */
function pictureOf(file: ImageBytes, { name, at }: Omit<Chunk, 'length'>): ImageSize | undefined {
  if (name === 'VP8 ') {
    if (file.u24(at + 3) !== 0x2a019d) throw new ImageProblem('its header is damaged');
    return { width: file.u16(at + 6, true) & 0x3fff, height: file.u16(at + 8, true) & 0x3fff };
  }
  if (name !== 'VP8L') return undefined;
  if (file.u8(at) !== 0x2f) throw new ImageProblem('its header is damaged');
  const bits = file.u32(at + 1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function assertSame(one: ImageSize, other: ImageSize): void {
  if (one.width !== other.width || one.height !== other.height) throw new ImageProblem(LIES);
}
