import { EthosError } from '@ethosagent/types';
import { denialError, deny } from './denials.js';

/** Headers about the framing of a message and its target. Only the guard sets them. */
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);
/** Keys with which other libraries choose the way to the server. */
const REFUSED_KEYS = ['dispatcher', 'agent', 'client', 'proxy', 'socketPath'] as const;
const PASSED_KEYS = [
  'body',
  'cache',
  'credentials',
  'duplex',
  'integrity',
  'keepalive',
  'mode',
  'referrer',
  'referrerPolicy',
  'signal',
] as const;

/**
 * Returns the part of `init` that `fetch` gets. It is read once. Unknown keys are left out.
 *
 * @throws `HOST_NOT_ALLOWED` for a key, method or header that a tool may not set, `NETWORK_FAILED`
 * for headers that can't be sent
 */
export function checkInit(init: RequestInit): RequestInit {
  const refusedKey = REFUSED_KEYS.find((key) => Reflect.get(init, key) != null);
  if (refusedKey) throw refuse('init', `init.${refusedKey} can not be set by a tool; leave it out`);
  const checked: RequestInit = {};
  for (const key of PASSED_KEYS) {
    const value: unknown = Reflect.get(init, key);
    if (value === undefined) continue;
    Object.assign(checked, { [key]: key === 'body' ? ownBody(value) : value });
  }
  const { method, headers } = init;
  if (method !== undefined) checked.method = checkMethod(String(method));
  if (headers !== undefined && headers !== null) checked.headers = checkHeaders(headers);
  return checked;
}

/** Copies a form: the caller could add to its own after its bytes were counted. */
function ownBody(body: unknown): unknown {
  if (body instanceof URLSearchParams) return new URLSearchParams(body);
  if (!(body instanceof FormData)) return body;
  const copy = new FormData();
  for (const [name, value] of body) copy.append(name, value);
  return copy;
}

function checkMethod(method: string): string {
  if (!REFUSED_METHODS.has(method.toUpperCase())) return method;
  throw refuse('method', `the method ${method.toUpperCase()} is not allowed; use another`);
}

function checkHeaders(given: NonNullable<RequestInit['headers']>): Headers {
  const headers = readHeaders(given);
  for (const name of headers.keys()) {
    if (!REFUSED_HEADERS.has(name) && !name.startsWith('proxy-')) continue;
    throw refuse('header', `the header ${name} can not be set by a tool; leave it out`);
  }
  return headers;
}

function readHeaders(given: NonNullable<RequestInit['headers']>): Headers {
  try {
    return new Headers(given);
  } catch (cause) {
    // The original message quotes the value, which may be a credential.
    throw new EthosError('NETWORK_FAILED', 'a header has an invalid name or value', { cause });
  }
}

function refuse(rule: string, detail: string) {
  return denialError(deny(rule, detail));
}
