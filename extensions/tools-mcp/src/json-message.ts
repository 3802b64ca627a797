import { parseJson } from '@ethosagent/policy';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { MAX_MESSAGE_DEPTH } from './limits.js';

/** A message, or why the text is not one. */
export type MessageResult = { ok: true; message: JSONRPCMessage } | { ok: false; problem: string };

/** Parses a message of JSON-RPC that is not nested too deep. It never throws. */
export function readMessage(text: string): MessageResult {
  if (jsonDepth(text) > MAX_MESSAGE_DEPTH) {
    return { ok: false, problem: `a message nested deeper than ${MAX_MESSAGE_DEPTH} levels` };
  }
  const value = parseJson(text);
  if (value === undefined) return { ok: false, problem: 'a line that is no JSON' };
  const parsed = JSONRPCMessageSchema.safeParse(value);
  return parsed.success
    ? { ok: true, message: parsed.data }
    : { ok: false, problem: 'JSON that is no JSON-RPC message' };
}

/** Counts how deep the brackets of a JSON text are nested, without parsing it. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
    } else if (code === 0x7b || code === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
    }
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  for (;;) {
    end = text.indexOf('"', end);
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
    end++;
  }
}

/** Counts the characters of the strings and keys in a value, and one more for each part of it. */
export function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 1;
  let chars = 1;
  if (Array.isArray(value)) for (const item of value) chars += charsIn(item);
  else for (const key of Object.keys(value)) chars += key.length + charsIn(Reflect.get(value, key));
  return chars;
}

/** Applies `map` to every string and key in a value. Keys `__proto__` are left out. */
export function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .map(([key, item]) => [map(key), mapStrings(item, map)]),
  );
}

/** Returns JSON with sorted keys, so that their order makes no difference. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
