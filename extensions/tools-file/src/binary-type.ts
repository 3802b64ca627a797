/** The signature of every file type is within the first bytes, as many as this. */
const HEAD_BYTES = 4_100;

/** Finds the media type of binary content by its signature; `undefined` when it is unknown. */
export async function guessBinaryType(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type/core');
  const type = await fileTypeFromBuffer(bytes.subarray(0, HEAD_BYTES));
  return type?.mime;
}
