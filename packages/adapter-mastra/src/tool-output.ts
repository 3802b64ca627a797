import type { ResultImage, SessionResult } from '@ethosagent/core';

/** The output of a call. The model reads `text` and sees `images`, and nothing else. */
export class ToolOutput {
  /** The text for the model. Text that somebody else may have written is marked as untrusted. */
  readonly text: string;
  readonly images: readonly ResultImage[];
  readonly #structured: Record<string, unknown> | undefined;

  /**
   * Makes the output of a call of a tool of `mastraTools`.
   *
   * @param parts the text and the images for the model, and structured data for the program
   */
  constructor({ text, images = [], structured }: ToolOutputParts) {
    this.text = text;
    this.images = images;
    this.#structured = structured;
  }

  /**
   * The structured data of the tool, for the program. It is not marked as untrusted, so it is a
   * getter and not a field: Mastra puts the JSON of a result into its memory and its traces, and
   * that JSON does not contain it. An output that was stored and read again has no structured data.
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

/** Returns the output of a successful call, for the program. */
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

/** Returns an output in the form for the model. The output may have been stored in between. */
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
