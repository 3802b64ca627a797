import { type ImageBytes, ImageProblem, type ImageSize } from './image-problem.js';

/** The markers of the frames that models and browsers read: baseline, extended and progressive. */
const FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);
const OTHER_FRAMES: ReadonlySet<number> = new Set([
  0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);
const SCAN = 0xda;
const END = 0xd9;
/** A picture has about ten scans. For each one, a decoder goes through all pixels. */
const MAX_SCANS = 64;

/** The size of a JPEG that has a scan and an end. Source: ITU-T T.81, annex B. */
export function jpegSize(file: ImageBytes): ImageSize {
  let size: ImageSize | undefined;
  for (let at = 2; ; ) {
    if (file.u8(at) !== 0xff) throw new ImageProblem('its segments do not follow each other');
    const marker = file.u8(at + 1);
    // Fill bytes before a marker, and markers without a segment.
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
      continue;
    }
    if (marker === END) throw new ImageProblem('it holds no picture');
    const length = file.u16(at + 2);
    if (length < 2) throw new ImageProblem('a segment of it has a wrong length');
    if (OTHER_FRAMES.has(marker)) throw new ImageProblem('it is of a kind that is not read');
    if (FRAMES.has(marker)) {
      if (size !== undefined) throw new ImageProblem('it says its size twice');
      size = { height: file.u16(at + 5), width: file.u16(at + 7) };
    }
    at += 2 + length;
    if (marker === SCAN) return scanned(file, at, size);
  }
}

/** Searches what follows a scan for the end of the file, and for a second size. */
function scanned(file: ImageBytes, from: number, size: ImageSize | undefined): ImageSize {
  if (size === undefined) throw new ImageProblem('it holds no picture');
  const { bytes } = file;
  let scans = 1;
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const marker = bytes[at + 1];
    if (marker === END) return size;
    if (marker === SCAN && ++scans > MAX_SCANS) {
      throw new ImageProblem(`it comes in more than ${MAX_SCANS} scans`);
    }
    if (marker !== undefined && (FRAMES.has(marker) || OTHER_FRAMES.has(marker))) {
      throw new ImageProblem('it says its size twice');
    }
  }
  throw new ImageProblem('it is cut off');
}
