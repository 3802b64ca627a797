/** Only a module of Node itself can load this module. */
const MARK = "require('internal/deps/undici/undici')";

/**
 * Whether this is Node's own `fetch`, and not one that replaces it. Node's returns the body
 * unchanged. Another one may read, copy or change it. A wrong `false` costs only time.
 */
export function isNodeFetch(fetch: typeof globalThis.fetch): boolean {
  return Function.prototype.toString.call(fetch).includes(MARK);
}
