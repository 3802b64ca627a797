/** So many first bytes are enough for every signature. */
const HEAD_BYTES = 4_100;

/** The media type of binary content by its signature, if it is known. */
export async function guessBinaryType(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type/core');
  const type = await fileTypeFromBuffer(bytes.subarray(0, HEAD_BYTES));
  return type?.mime;
}
