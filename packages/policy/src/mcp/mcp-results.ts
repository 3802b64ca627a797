import type { ToolErrorCode, ToolResult } from '@ethosagent/types';
import { readImage } from '../images/read-image.js';
import { type Check, isBoolean, isObject, isOneOf, isShape, isString } from '../shape.js';
import { cleanLine } from '../text/clean-text.js';
import { takeStart } from '../text/cut-text.js';

/** The answer to a call of a tool, read leniently: one odd part must not cost the others. */
export interface McpCallAnswer {
  content?: readonly unknown[] | undefined;
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/** Where a result comes from. */
export interface McpOrigin {
  server: string;
  tool: string;
  annotations?: Record<string, unknown>;
}

const MAX_PARTS = 1_000;
const MAX_TEXT_CHARS = 1_000_000;
const MAX_IMAGES = 8;
const MAX_BINARY_CHARS = 8_000_000;

function isOptional<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}
const isOptionalString = isOptional(isString);
const isList: Check<readonly unknown[]> = (value) => Array.isArray(value);

/** The content of a URI, as a server gives it. */
export interface McpResource {
  uri: string;
  mimeType?: string | undefined;
  text?: string | undefined;
  blob?: string | undefined;
}

const isResource: Check<McpResource> = isShape(
  { uri: isString },
  { mimeType: isOptionalString, text: isOptionalString, blob: isOptionalString },
);
const isText = isShape({ type: isOneOf(['text']), text: isString });
const isBinary = isShape({
  type: isOneOf(['image', 'audio']),
  data: isString,
  mimeType: isString,
});
const isEmbedded = isShape({ type: isOneOf(['resource']), resource: isResource });
const isLink = isShape(
  { type: isOneOf(['resource_link']), uri: isString, name: isString },
  { description: isOptionalString, mimeType: isOptionalString },
);
const isAnswer: Check<McpCallAnswer> = isShape(
  {},
  { content: isOptional(isList), isError: isOptional(isBoolean) },
);

/**
 * A server's answer to a call, or `undefined` for a value that is no answer.
 *
 * @param value what came over the wire
 * @returns the answer, or `undefined`
 */
export function readMcpAnswer(value: unknown): McpCallAnswer | undefined {
  return isObject(value) && isAnswer(value) ? value : undefined;
}

/** What a server answered, in parts. */
export class McpResultParts {
  readonly texts: string[] = [];
  readonly images: { mediaType: string; data: string }[] = [];
  readonly audio: { mediaType: string; data: string }[] = [];
  readonly resources: McpResource[] = [];
  readonly links: { uri: string; name: string; description?: string; mediaType?: string }[] = [];
  #textChars = 0;
  #binaryChars = 0;

  /**
   * Adds the parts of an answer. More than the cap are left out, and a text says how many.
   *
   * @param content parts as the protocol defines them
   */
  add(content: readonly unknown[]): void {
    for (const part of content.slice(0, MAX_PARTS)) this.#addPart(part);
    const more = content.length - MAX_PARTS;
    if (more > 0) this.text(`[${more} more parts are left out]`);
  }

  /**
   * Adds a text. Text beyond the cap of all texts is cut.
   *
   * @param text of any length
   */
  text(text: string): void {
    if (this.#textChars >= MAX_TEXT_CHARS) return;
    this.#textChars += text.length;
    const over = this.#textChars - MAX_TEXT_CHARS;
    this.texts.push(over <= 0 ? text : `${takeStart(text, text.length - over)}\n[cut]`);
  }

  /**
   * Adds a resource: its text, its image, or a line that describes its bytes.
   *
   * @param resource as the protocol defines it
   */
  resource(resource: McpResource): void {
    const { uri, mimeType, text, blob } = resource;
    const shown = cleanLine(uri, 300);
    if (text !== undefined) {
      this.text(`[resource ${shown}]\n${text}`);
      this.resources.push({ uri, ...(mimeType === undefined ? {} : { mimeType }) });
      return;
    }
    if (blob === undefined) return;
    if (isImageBlob(mimeType, blob)) {
      const type = mimeType ?? 'image';
      this.#binary(`resource ${shown}`, this.images, { mimeType: type, data: blob });
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

  /**
   * Everything but the texts, as a payload. Empty lists are left out.
   *
   * @returns the lists `images`, `audio`, `resources` and `links`
   */
  structured(): Record<string, unknown> {
    const { images, audio, resources, links } = this;
    return Object.fromEntries(
      Object.entries({ images, audio, resources, links }).filter(([, list]) => list.length > 0),
    );
  }

  #addPart(part: unknown): void {
    if (isText(part)) {
      this.text(part.text);
    } else if (isBinary(part)) {
      this.#binary(part.type, part.type === 'image' ? this.images : this.audio, part);
    } else if (isEmbedded(part)) {
      this.resource(part.resource);
    } else if (isLink(part)) {
      const { uri, name, description, mimeType } = part;
      this.text(`[link to the resource ${cleanLine(uri, 300)}: ${cleanLine(name, 200)}]`);
      this.links.push({
        uri,
        name,
        ...(description === undefined ? {} : { description }),
        ...(mimeType === undefined ? {} : { mediaType: mimeType }),
      });
    } else {
      this.text('[a part of a kind that is not known]');
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

/** Decides by the media type. If that says nothing, by the first bytes. */
function isImageBlob(mimeType: string | undefined, blob: string): boolean {
  if (mimeType !== undefined && mimeType !== 'application/octet-stream') {
    return /^image\//.test(mimeType);
  }
  return readImage(Buffer.from(blob.slice(0, 32), 'base64')) !== undefined;
}

function describe(mediaType: string, base64: string, kept: boolean): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return `${cleanLine(mediaType, 100)}, ${bytes} bytes${kept ? '' : ', left out'}`;
}

/**
 * How servers that are built with the SDKs report that the arguments are invalid or the tool does
 * not exist. The text of the result begins with the code of JSON-RPC, or with a fixed text of their
 * validation.
 */
const NO_SUCH_TOOL =
  /^(?:MCP error -32602: (?:Tool \S+ (?:not found|disabled)|Unknown tool)|Unknown tool:)/;
const REFUSED_ARGUMENTS =
  /^(?:MCP error -32602\b|Input validation error:|Error executing tool \S+: \d+ validation errors? for )/;

/**
 * The code of a failure, derived from the server's text. The code only names the kind of failure,
 * and grants nothing.
 */
function codeOfFailure(error: string): ToolErrorCode {
  if (NO_SUCH_TOOL.test(error)) return 'not_available';
  return REFUSED_ARGUMENTS.test(error) ? 'input_invalid' : 'execution_failed';
}

/**
 * What a call of a server's tool comes back with.
 *
 * @param answer what the server sent, as `readMcpAnswer` gives it
 * @param origin the server and the tool, which `structured.mcp` repeats
 * @returns a result; a failed one has a code
 */
export function mcpToolResult(answer: McpCallAnswer, origin: McpOrigin): ToolResult {
  const { content = [], structuredContent, isError } = answer;
  const parts = new McpResultParts();
  parts.add(content);
  if (isError === true) {
    const error = parts.texts.join('\n') || `${origin.server} says that it failed, and not why`;
    return { ok: false, error, code: codeOfFailure(error) };
  }
  const structured: Record<string, unknown> = { ...parts.structured(), mcp: origin };
  if (structuredContent !== undefined) {
    structured.structuredContent = structuredContent;
    if (parts.texts.length === 0) parts.text(JSON.stringify(structuredContent));
  }
  return { ok: true, value: parts.texts.join('\n'), structured };
}
