import { EthosError } from '@ethosagent/types';
import { utf8 } from './results/encodings.js';
import type { Handle } from './secret-handle.js';

/** The values, by their placeholders. */
type Values = ReadonlyMap<string, string>;
type Body = NonNullable<RequestInit['body']>;

const BASIC = /^(basic +)([\w+/-]+={0,2}) *$/i;

/**
 * The handles in the headers and the body of a request. A body that is a stream is not searched.
 */
export async function findHandles(init: RequestInit, handles: Iterable<Handle>): Promise<Handle[]> {
  const texts: Array<string | Buffer> = [];
  for (const value of new Headers(init.headers).values()) {
    texts.push(value);
    const basic = BASIC.exec(value);
    if (basic?.[2] !== undefined) texts.push(Buffer.from(basic[2], 'base64'));
  }
  texts.push(...(await textsOf(init.body)));
  return [...handles].filter(({ placeholder }) => texts.some((text) => text.includes(placeholder)));
}

async function textsOf(body: RequestInit['body']): Promise<Array<string | Buffer>> {
  if (typeof body === 'string') return [body];
  if (body instanceof URLSearchParams) return [body.toString()];
  if (body instanceof Blob) return [Buffer.from(await body.arrayBuffer())];
  if (body instanceof FormData) {
    const values = await Promise.all(Array.from(body.values(), (value) => textsOf(value)));
    return values.flat();
  }
  const bytes = bytesOf(body);
  return bytes ? [bytes] : [];
}

/**
 * The request with values instead of placeholders: in header values, also within Basic credentials,
 * and in bodies, where values are escaped for JSON or forms.
 * @throws `NETWORK_FAILED` for a value that can't stand in a header
 */
export async function replaceHandles(init: RequestInit, values: Values): Promise<RequestInit> {
  const headers = replaceInHeaders(new Headers(init.headers), values);
  const { body } = init;
  if (body === undefined || body === null) return { ...init, headers };
  const replaced = await replaceInBody(body, values, headers.get('content-type') ?? '');
  // The header counts the bytes of the placeholder; `fetch` sets the right one.
  if (replaced !== body) headers.delete('content-length');
  return { ...init, headers, body: replaced };
}

function replaceInHeaders(headers: Headers, values: Values): Headers {
  for (const [name, given] of [...headers]) {
    const [, scheme, credentials] = BASIC.exec(given) ?? [];
    let value = replaceInText(given, values, utf8);
    if (scheme !== undefined && credentials !== undefined) {
      const bytes = Buffer.from(credentials, 'base64').toString('latin1');
      const replaced = replaceInText(bytes, values, utf8);
      if (replaced !== bytes) value = scheme + Buffer.from(replaced, 'latin1').toString('base64');
    }
    if (value === given) continue;
    try {
      headers.set(name, value);
    } catch {
      // The thrown error quotes the value.
      throw new EthosError(
        'NETWORK_FAILED',
        `a secret in the header ${name} holds a character that no header can; check its value`,
      );
    }
  }
  return headers;
}

async function replaceInBody(body: Body, values: Values, contentType: string): Promise<Body> {
  if (typeof body === 'string') return replaceInText(body, values, escapeFor(contentType));
  if (body instanceof URLSearchParams) {
    const swap = (text: string) => replaceInText(text, values, asItIs);
    const replaced = new URLSearchParams();
    for (const [name, value] of body) replaced.append(swap(name), swap(value));
    return replaced;
  }
  if (body instanceof FormData) return replaceInForm(body, values);
  if (body instanceof Blob) return replaceInBlob(body, values, contentType);
  const bytes = bytesOf(body);
  return bytes ? replaceInBytes(bytes, values, contentType) : body;
}

async function replaceInForm(form: FormData, values: Values): Promise<FormData> {
  const replaced = new FormData();
  for (const [name, value] of form) {
    if (typeof value === 'string') {
      replaced.append(name, replaceInText(value, values, asItIs));
    } else {
      replaced.append(name, await replaceInBlob(value, values, ''), value.name);
    }
  }
  return replaced;
}

async function replaceInBlob(blob: Blob, values: Values, contentType: string): Promise<Blob> {
  const bytes = Buffer.from(await blob.arrayBuffer());
  const replaced = replaceInBytes(bytes, values, contentType || blob.type);
  return replaced === bytes ? blob : new Blob([replaced], { type: blob.type });
}

function replaceInBytes(bytes: Buffer, values: Values, contentType: string): Buffer {
  const text = bytes.toString('latin1');
  const escaped = escapeFor(contentType);
  const replaced = replaceInText(text, values, (value) => utf8(escaped(value)));
  return replaced === text ? bytes : Buffer.from(replaced, 'latin1');
}

function replaceInText(text: string, values: Values, escaped: (value: string) => string): string {
  let replaced = text;
  for (const [placeholder, value] of values) {
    replaced = replaced.replaceAll(placeholder, () => escaped(value));
  }
  return replaced;
}

function escapeFor(contentType: string): (value: string) => string {
  const [type = ''] = contentType.toLowerCase().split(';');
  if (/[/+]json\s*$/.test(type)) return (value) => JSON.stringify(value).slice(1, -1);
  if (type.trim() === 'application/x-www-form-urlencoded') {
    return (value) => new URLSearchParams([['', value]]).toString().slice(1);
  }
  return asItIs;
}

function asItIs(value: string): string {
  return value;
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body instanceof ArrayBuffer) return Buffer.from(body);
  if (!ArrayBuffer.isView(body)) return undefined;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
