/** The kind of a body, which decides how it is shown. */
export type BodyKind = 'html' | 'json' | 'xml' | 'text' | 'pdf' | 'image' | 'binary';

/** The parts of a `Content-Type`. */
export interface MediaType {
  /** The type in lower case, e.g. `text/html`. Empty when the header has no valid type. */
  essence: string;
  charset: string | undefined;
}

const TOKEN = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
const TEXT_TYPES: ReadonlySet<string> = new Set([
  'application/ecmascript',
  'application/graphql',
  'application/javascript',
  'application/mbox',
  'application/rtf',
  'application/sql',
  'application/toml',
  'application/typescript',
  'application/x-httpd-php',
  'application/x-javascript',
  'application/x-ndjson',
  'application/x-sh',
  'application/x-www-form-urlencoded',
  'application/x-yaml',
  'application/yaml',
]);
// Servers send these for unknown files, or for almost any file.
const VAGUE: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'application/unknown',
  'binary/octet-stream',
  'text/plain',
  'unknown/unknown',
]);
const HTML_START =
  /^(?:\s|<!--(?:(?!-->)[\s\S]){0,1000}-->)*<(?:!doctype html|html|head|body|title|script|table|div|h1|p|a|br)[\s/>]/i;

export function parseMediaType(header: string | null): MediaType {
  const [first = '', ...parameters] = (header ?? '').slice(0, 1_000).split(';');
  const essence = first.trim().toLowerCase();
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?\s*([\w:.+-]+)/i.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { essence: TOKEN.test(essence) ? essence : '', charset: charset?.toLowerCase() };
}

/**
 * Finds out the kind of a body: by its first bytes if they tell, else by the header of the server.
 */
export async function kindOfBody(
  bytes: Uint8Array,
  essence: string,
): Promise<{ kind: BodyKind; mediaType: string }> {
  const said = kindOfType(essence);
  const sniffed = await sniff(bytes, said);
  if (sniffed !== undefined) {
    return { kind: kindOfType(sniffed) ?? 'binary', mediaType: sniffed };
  }
  if (said !== undefined && said !== 'image' && said !== 'pdf' && said !== 'binary') {
    return refined(said, essence, bytes);
  }
  if (hasNul(bytes)) return { kind: 'binary', mediaType: essence || 'application/octet-stream' };
  // If the body does not begin like the stated image or PDF, its bytes decide.
  return refined('text', VAGUE.has(essence) ? 'text/plain' : essence, bytes);
}

function kindOfType(essence: string): BodyKind | undefined {
  if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html';
  if (/^(?:application|text)\/(?:[\w.-]+\+)?json5?$/.test(essence)) return 'json';
  if (essence === 'image/svg+xml') return 'xml';
  if (/[/+]xml$/.test(essence)) return 'xml';
  if (essence.startsWith('text/') || TEXT_TYPES.has(essence)) return 'text';
  if (essence === 'application/pdf') return 'pdf';
  if (essence.startsWith('image/')) return 'image';
  return VAGUE.has(essence) ? undefined : 'binary';
}

async function sniff(bytes: Uint8Array, said: BodyKind | undefined): Promise<string | undefined> {
  if (bytes.length === 0) return undefined;
  if (startsWith(bytes, '%PDF-')) return 'application/pdf';
  // A body that the server calls text is text, unless it has bytes that no text has.
  const isText = said !== undefined && said !== 'image' && said !== 'pdf' && said !== 'binary';
  if (isText && !hasNul(bytes)) return undefined;
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(bytes.subarray(0, 65_536)).catch(() => undefined);
  if (type === undefined || type.mime === 'application/xml') return undefined;
  return type.mime;
}

function refined(
  kind: BodyKind,
  essence: string,
  bytes: Uint8Array,
): { kind: BodyKind; mediaType: string } {
  if (kind !== 'text' || !VAGUE.has(essence)) return { kind, mediaType: essence };
  const start = Buffer.from(bytes.subarray(0, 4_096)).toString('latin1');
  return HTML_START.test(start)
    ? { kind: 'html', mediaType: 'text/html' }
    : { kind, mediaType: essence };
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.subarray(0, text.length)).toString('latin1') === text;
}

/** Whether a body has a NUL. Text in UTF-16 or UTF-32 has some, too: a byte order mark marks it. */
function hasNul(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return !isMarked && bytes.subarray(0, 8_192).includes(0);
}
