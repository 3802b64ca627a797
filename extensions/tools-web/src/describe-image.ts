// The dimensions of an honest file are within so many bytes.
const HEAD_BYTES = 1024 * 1024;

/**
 * Reads width and height of an image in pixels from its header. Empty when the header doesn't tell.
 */
export async function imageSizeOf(bytes: Uint8Array): Promise<{ width?: number; height?: number }> {
  const { imageSize } = await import('image-size');
  try {
    const { width, height } = imageSize(bytes.subarray(0, HEAD_BYTES));
    return { width, height };
  } catch {
    return {};
  }
}
