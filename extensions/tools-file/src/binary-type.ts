/** The bytes that are needed to tell every type. */
const HEAD_BYTES = 4_100;

/** What bytes that are no text seem to be, by their signature: a media type, if one is known. */
export async function guessBinaryType(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type/core');
  const type = await fileTypeFromBuffer(bytes.subarray(0, HEAD_BYTES));
  return type?.mime;
}
