import { err, ok } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { cleanLine } from './clean-text.js';

/** The answer to a call of a tool, read leniently: one odd part must not cost the others. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallResult = z.infer<typeof callResultSchema>;

/** Where a result comes from. */
export interface ResultOrigin {
  server: string;
  tool: string;
  annotations?: Record<string, unknown>;
}

const MAX_PARTS = 1_000;
const MAX_TEXT_CHARS = 1_000_000;
const MAX_IMAGES = 8;
const MAX_BINARY_CHARS = 8_000_000;

const resourceSchema = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});
const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('resource'), resource: resourceSchema }),
  z.object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
  }),
]);

/** What a server answered, in parts. */
export class ResultParts {
  readonly texts: string[] = [];
  readonly images: { mediaType: string; data: string }[] = [];
  readonly audio: { mediaType: string; data: string }[] = [];
  readonly resources: z.infer<typeof resourceSchema>[] = [];
  readonly links: { uri: string; name: string; description?: string; mediaType?: string }[] = [];
  #textChars = 0;
  #binaryChars = 0;

  add(content: readonly unknown[]): void {
    for (const part of content.slice(0, MAX_PARTS)) this.#addPart(part);
    const more = content.length - MAX_PARTS;
    if (more > 0) this.text(`[${more} more parts are left out]`);
  }

  text(text: string): void {
    if (this.#textChars >= MAX_TEXT_CHARS) return;
    this.#textChars += text.length;
    const over = this.#textChars - MAX_TEXT_CHARS;
    this.texts.push(over <= 0 ? text : `${text.slice(0, -over).toWellFormed()}\n[cut]`);
  }

  resource(resource: z.infer<typeof resourceSchema>): void {
    const { uri, mimeType, text, blob } = resource;
    const shown = cleanLine(uri, 300);
    if (text !== undefined) {
      this.text(`[resource ${shown}]\n${text}`);
      this.resources.push({ uri, ...(mimeType === undefined ? {} : { mimeType }) });
      return;
    }
    if (blob === undefined) return;
    if (mimeType !== undefined && /^image\//.test(mimeType)) {
      this.#binary(`resource ${shown}`, this.images, { mimeType, data: blob });
      return;
    }
    const kept = this.#fits(blob);
    this.text(`[resource ${shown}: ${describe(mimeType ?? 'binary', blob, kept)}]`);
    this.resources.push({
      uri,
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(kept ? { blob } : {}),
    });
  }

  /** All but the texts, as a payload; keys without anything are left out. */
  structured(): Record<string, unknown> {
    const { images, audio, resources, links } = this;
    return Object.fromEntries(
      Object.entries({ images, audio, resources, links }).filter(([, list]) => list.length > 0),
    );
  }

  #addPart(raw: unknown): void {
    const parsed = partSchema.safeParse(raw);
    if (!parsed.success) {
      this.text('[a part of a kind that is not known]');
      return;
    }
    const part = parsed.data;
    switch (part.type) {
      case 'text':
        this.text(part.text);
        break;
      case 'image':
        this.#binary('image', this.images, part);
        break;
      case 'audio':
        this.#binary('audio', this.audio, part);
        break;
      case 'resource':
        this.resource(part.resource);
        break;
      case 'resource_link': {
        const { uri, name, description, mimeType } = part;
        this.text(`[link to the resource ${cleanLine(uri, 300)}: ${cleanLine(name, 200)}]`);
        this.links.push({
          uri,
          name,
          ...(description === undefined ? {} : { description }),
          ...(mimeType === undefined ? {} : { mediaType: mimeType }),
        });
      }
    }
  }

  #binary(
    what: string,
    list: { mediaType: string; data: string }[],
    { mimeType: mediaType, data }: { mimeType: string; data: string },
  ): void {
    const kept = list.length < MAX_IMAGES && this.#fits(data);
    if (kept) list.push({ mediaType, data });
    this.text(`[${what}: ${describe(mediaType, data, kept)}]`);
  }

  #fits(data: string): boolean {
    if (this.#binaryChars + data.length > MAX_BINARY_CHARS) return false;
    this.#binaryChars += data.length;
    return true;
  }
}

function describe(mediaType: string, base64: string, kept: boolean): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return `${cleanLine(mediaType, 100)}, ${bytes} bytes${kept ? '' : ', left out'}`;
}

/** What a call of a server's tool comes back with. */
export function toolResultOf(result: CallResult, origin: ResultOrigin): ToolResult {
  const { content = [], structuredContent, isError } = result;
  const parts = new ResultParts();
  parts.add(content);
  if (isError === true) {
    const text = parts.texts.join('\n');
    return err(text === '' ? `${origin.server} says that it failed, and not why` : text);
  }
  const structured: Record<string, unknown> = { ...parts.structured(), mcp: origin };
  if (structuredContent !== undefined) {
    structured.structuredContent = structuredContent;
    if (parts.texts.length === 0) parts.text(JSON.stringify(structuredContent));
  }
  return ok(parts.texts.join('\n'), { structured });
}
