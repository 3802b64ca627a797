/** Only a module of Node itself can load this one. */
const MARK = "require('internal/deps/undici/undici')";

/**
 * Whether this is the `fetch` that Node comes with, rather than one that a host has put in its
 * place. Node's returns the body as it came; another may read it, copy it or change it. A `false`
 * for Node's own costs time, and nothing else.
 */
export function isNodeFetch(fetch: typeof globalThis.fetch): boolean {
  return Function.prototype.toString.call(fetch).includes(MARK);
}
