import type { ResultImage, SessionResult } from '@ethosagent/core';

/** What a call gives the program. The model reads `text` and sees `images`, and nothing else. */
export class ToolOutput {
  /** Marked where somebody else may have written it. */
  readonly text: string;
  readonly images: readonly ResultImage[];
  readonly #structured: Record<string, unknown> | undefined;

  /**
   * What a tool of `mastraTools` gives.
   *
   * @param parts the text for the model, the images, and what the program may know
   */
  constructor({ text, images = [], structured }: ToolOutputParts) {
    this.text = text;
    this.images = images;
    this.#structured = structured;
  }

  /**
   * The payload of the tool. It is not marked, so it is no field: Mastra puts the JSON of a result
   * into its memory and its traces, and that lacks it. An output that was stored has none.
   */
  get structured(): Record<string, unknown> | undefined {
    return this.#structured;
  }
}

interface ToolOutputParts {
  text: string;
  images?: readonly ResultImage[];
  structured?: Record<string, unknown> | undefined;
}

/** What the program gets of a successful call. */
export function outputOf({ text, images, result }: SessionResult): ToolOutput {
  return new ToolOutput({ text, images, structured: result.ok ? result.structured : undefined });
}

type ModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'content'; value: (TextPart | ImagePart)[] };

interface TextPart {
  type: 'text';
  text: string;
}

interface ImagePart {
  type: 'image-data';
  mediaType: string;
  data: string;
}

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** What the model gets of an output. The output may have been stored in between. */
export function modelOutput(output: unknown): ModelOutput {
  const { text, images }: Partial<Record<keyof ToolOutput, unknown>> = Object(output);
  if (typeof text !== 'string') return { type: 'error-text', value: 'the result is not readable' };
  const shown = Array.isArray(images) ? images.filter(isImage) : [];
  if (shown.length === 0) return { type: 'text', value: text };
  const parts = shown.map(({ mediaType, data }) => ({
    type: 'image-data' as const,
    mediaType,
    data,
  }));
  return { type: 'content', value: [{ type: 'text', text }, ...parts] };
}

function isImage(value: unknown): value is ResultImage {
  const { mediaType, data }: Partial<Record<keyof ResultImage, unknown>> = Object(value);
  return typeof mediaType === 'string' && IMAGES.has(mediaType) && typeof data === 'string';
}
