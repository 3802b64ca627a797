import { err, ok } from '@ethosagent/plugin-sdk';
import type { ImageReading } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';

/** Returns the result for an image: its size as text, and its bytes for the model. */
export function imageResult(
  name: string,
  {
    image,
    bytes,
    about,
  }: { image: ImageReading; bytes: Uint8Array; about: Record<string, unknown> },
): ToolResult {
  const { mediaType } = image;
  if (!image.ok) {
    return err(
      `${name} is no image to look at (${mediaType}): ${image.problem}`,
      'execution_failed',
      image.cause,
    );
  }
  const { width, height } = image;
  const data = Buffer.from(bytes).toString('base64');
  return ok(
    `[${name} is an image, ${mediaType}, ${width} × ${height} pixels, ${bytes.length} bytes]`,
    {
      structured: {
        ...about,
        encoding: 'binary',
        totalLines: 0,
        startLine: 0,
        endLine: 0,
        width,
        height,
        images: [{ mediaType, data }],
      },
    },
  );
}
