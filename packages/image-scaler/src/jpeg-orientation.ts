/**
 * Returns how the camera was held, 1 to 8, according to EXIF; 1 if that is unknown. A decoder
 * returns the pixels as they are stored.
 */
export function jpegOrientation(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
      const isExif = view.getUint8(at + 1) === 0xe1 && view.getUint32(at + 4) === 0x45786966;
      if (isExif) return orientationOf(view, at + 10);
    }
  } catch {
    // An offset lies beyond the end, so the orientation is unknown.
  }
  return 1;
}

/** Returns the orientation in the first directory of a TIFF. */
function orientationOf(view: DataView, tiff: number): number {
  const isLittle = view.getUint16(tiff) === 0x4949;
  const directory = tiff + view.getUint32(tiff + 4, isLittle);
  const count = view.getUint16(directory, isLittle);
  for (let entry = 0; entry < count; entry++) {
    const at = directory + 2 + 12 * entry;
    if (view.getUint16(at, isLittle) !== 0x0112) continue;
    const value = view.getUint16(at + 8, isLittle);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}
