import { type ImageBytes, ImageProblem, type ImageSize } from './image-problem.js';

const SIGNATURE_BYTES = 8;
/** The bytes of a chunk's length, name and checksum. */
const FRAME_BYTES = 12;
/** The bits per sample that each colour type allows. */
const DEPTHS: ReadonlyMap<number, readonly number[]> = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
]);

/**
 * The size of a PNG whose chunks reach its end. Nothing is unpacked. Source: PNG, third edition.
 */
export function pngSize(file: ImageBytes): ImageSize {
  let size: ImageSize | undefined;
  let hasData = false;
  for (let at = SIGNATURE_BYTES; ; ) {
    const length = file.u32(at);
    const name = file.text(at + 4, 4);
    // Reads the checksum, so that a cut file fails here.
    file.u32(at + 8 + length);
    if ((size === undefined) !== (name === 'IHDR')) {
      throw new ImageProblem('its header stands where none may be');
    }
    if (name === 'IHDR') size = headerOf(file, at, length);
    if (name === 'IDAT') hasData = true;
    if (name === 'IEND') break;
    at += length + FRAME_BYTES;
  }
  if (size === undefined || !hasData) throw new ImageProblem('it holds no picture');
  return size;
}

function headerOf(file: ImageBytes, at: number, length: number): ImageSize {
  if (length !== 13) throw new ImageProblem('its header has a wrong length');
  const isSound = DEPTHS.get(file.u8(at + 17))?.includes(file.u8(at + 16)) === true;
  if (!isSound || crc32(file.bytes.subarray(at + 4, at + 21)) !== file.u32(at + 21)) {
    throw new ImageProblem('its header is damaged');
  }
  return { width: file.u32(at + 8), height: file.u32(at + 12) };
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
