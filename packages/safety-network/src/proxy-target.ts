import type { IncomingMessage } from 'node:http';
import { parseUrl } from '@ethosagent/policy';
import { CapabilityError } from '@ethosagent/types';

const AUTHORITY = /^(?:\[[0-9a-f:.]+\]|[^\s:@/?#\\%[\]]+):\d{1,5}$/i;
const REFUSED_METHODS: ReadonlySet<string> = new Set(['TRACE', 'TRACK']);
/** Headers between two neighbours, which are not forwarded (RFC 9110, section 7.6.1). */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Returns the target of a proxied request.
 * @throws `HOST_NOT_ALLOWED` if it is not an `http:` URL, if the method is not allowed, or if the
 * `Host` header names another host
 */
export function targetOf({ url = '', method = '', headers }: IncomingMessage): URL {
  const target = /^http:\/\//i.test(url) ? parseUrl(url) : null;
  if (target === null) {
    throw malformed('the proxy takes absolute http: URLs; for https: ask for a tunnel');
  }
  if (REFUSED_METHODS.has(method)) throw malformed(`the method ${method} is not allowed`);
  // A server for several hosts chooses by this header.
  if (parseUrl(`http://${headers.host}/`)?.host !== target.host) {
    throw malformed('the Host header is not that of the URL');
  }
  return target;
}

/**
 * Returns the target of a tunnel, as an `https:` URL.
 * @throws `HOST_NOT_ALLOWED` if it is not a host and a port
 */
export function tunnelTarget(authority: string): URL {
  const target = AUTHORITY.test(authority) ? parseUrl(`https://${authority}/`) : null;
  if (target === null) throw malformed('a tunnel is to a host and a port');
  return target;
}

function malformed(detail: string): CapabilityError {
  return new CapabilityError('HOST_NOT_ALLOWED', detail, 'malformed request');
}

/** Returns the headers to forward. Takes names and values in turn, as in `rawHeaders`. */
export function forwardedHeaders(rawHeaders: readonly string[]): Record<string, string[]> {
  const pairs: Array<[name: string, value: string]> = [];
  const dropped = new Set(HOP_HEADERS);
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    pairs.push([name, value]);
    if (name !== 'connection') continue;
    for (const token of value.split(',')) dropped.add(token.trim().toLowerCase());
  }
  const headers: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    if (dropped.has(name) || name.startsWith('proxy-')) continue;
    headers[name] = [...(headers[name] ?? []), value];
  }
  return headers;
}
