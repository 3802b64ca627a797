/**
 * The chunks that the pixels need. A decoder also unpacks other chunks, such as a colour profile,
 * however large they become.
 */
const KEPT: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
const SIGNATURE_BYTES = 8;
/** The bytes of a chunk's length, name and checksum. */
const FRAME_BYTES = 12;

/** Returns a PNG that contains only the first picture of another one. */
export function plainPng(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plain = Buffer.alloc(file.length);
  let written = file.copy(plain, 0, 0, SIGNATURE_BYTES);
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= file.length; ) {
    const end = at + FRAME_BYTES + file.readUInt32BE(at);
    const name = file.toString('latin1', at + 4, at + 8);
    if (KEPT.has(name)) written += file.copy(plain, written, at, end);
    if (name === 'IEND') break;
    at = end;
  }
  return plain.subarray(0, written);
}
