import { type ImageBytes, ImageProblem, type ImageSize } from './image-problem.js';

/**
 * The size of a GIF. It must have at least one picture, and no picture larger than the GIF. Source:
 * GIF89a.
 */
export function gifSize(file: ImageBytes): ImageSize {
  const size = { width: file.u16(6, true), height: file.u16(8, true) };
  let hasPicture = false;
  for (let at = 13 + tableBytes(file.u8(10)); ; ) {
    switch (file.u8(at)) {
      case 0x21:
        at = afterBlocks(file, at + 2);
        break;
      case 0x2c: {
        const right = file.u16(at + 1, true) + file.u16(at + 5, true);
        const bottom = file.u16(at + 3, true) + file.u16(at + 7, true);
        if (right > size.width || bottom > size.height) {
          throw new ImageProblem('a picture in it is larger than it says');
        }
        hasPicture = true;
        at = afterBlocks(file, at + 11 + tableBytes(file.u8(at + 9)));
        break;
      }
      case 0x3b:
        if (!hasPicture) throw new ImageProblem('it holds no picture');
        return size;
      default:
        throw new ImageProblem('its blocks do not follow each other');
    }
  }
}

function tableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function afterBlocks(file: ImageBytes, from: number): number {
  let at = from;
  for (let length = file.u8(at); length > 0; length = file.u8(at)) at += length + 1;
  return at + 1;
}
