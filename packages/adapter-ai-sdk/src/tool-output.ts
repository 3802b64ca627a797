import type { ResultImage, SessionResult } from '@ethosagent/core';
import type { ToolProgressEvent } from '@ethosagent/types';
import * as ai from 'ai';
import type { ModelOutput } from './ai-types.js';

const isSeven = 'isStepCount' in ai;
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** The output of a call. The model reads `text` and sees `images`, and nothing else. */
export class ToolOutput {
  /** The text for the model. Text that somebody else may have written is marked as untrusted. */
  readonly text: string;
  readonly images: readonly ResultImage[];
  /** Present while the call is running: this output is progress, and not the result. */
  readonly progress?: ToolProgressEvent;
  readonly #structured: Record<string, unknown> | undefined;

  /**
   * Makes the output of a call of a tool of `aiTools`.
   *
   * @param parts the text and the images for the model, progress, and structured data for the
   * program
   */
  constructor({ text, images = [], progress, structured }: ToolOutputParts) {
    this.text = text;
    this.images = images;
    if (progress !== undefined) this.progress = progress;
    this.#structured = structured;
  }

  /**
   * The structured data of the tool, for the program. It is not marked as untrusted, so it is a
   * getter and not a field: the JSON of an output does not contain it, even if messages are
   * converted without the tools.
   */
  get structured(): Record<string, unknown> | undefined {
    return this.#structured;
  }
}

interface ToolOutputParts {
  text: string;
  images?: readonly ResultImage[];
  progress?: ToolProgressEvent;
  structured?: Record<string, unknown> | undefined;
}

/** Returns the output of a successful call, for the program. */
export function outputOf({ text, images, result }: SessionResult): ToolOutput {
  return new ToolOutput({ text, images, structured: result.ok ? result.structured : undefined });
}

/** Returns an output in the form for the model. It may have been sent to a browser and back. */
export function modelOutput(output: unknown): ModelOutput {
  const { text, images, progress }: Partial<Record<keyof ToolOutput, unknown>> = Object(output);
  if (progress !== undefined) return { type: 'error-text', value: 'the call did not end' };
  if (typeof text !== 'string') return { type: 'error-text', value: 'the result is not readable' };
  const shown = Array.isArray(images) ? images.filter(isImage) : [];
  if (shown.length === 0) return { type: 'text', value: text };
  return {
    type: 'content',
    value: [{ type: 'text', text }, ...shown.map(imagePart).filter(isKnown)],
  };
}

type ContentPart = Extract<ModelOutput, { type: 'content' }>['value'][number];

interface ImagePart {
  type: string;
  mediaType: string;
  data: unknown;
}

/** Makes the part of an image. `ai` 7 accepts the part of `ai` 6 too, but prints a warning. */
function imagePart({ mediaType, data }: ResultImage): ImagePart {
  return isSeven
    ? { type: 'file', mediaType, data: { type: 'data', data } }
    : { type: 'image-data', mediaType, data };
}

/** Whether this version of `ai` has such a part. The types of the other version lack it. */
function isKnown(part: ImagePart): part is ImagePart & ContentPart {
  return part.type === (isSeven ? 'file' : 'image-data');
}

function isImage(value: unknown): value is ResultImage {
  const { mediaType, data }: Partial<Record<keyof ResultImage, unknown>> = Object(value);
  return typeof mediaType === 'string' && IMAGES.has(mediaType) && typeof data === 'string';
}
