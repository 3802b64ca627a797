/**
 * Whether a pattern covers the host and the port of a URL, as one of a declaration does: a host,
 * `*.suffix` or `*`, each with a port or without.
 */
export function coversUrl(pattern: string, url: URL): boolean {
  const { host, port } = split(pattern);
  if (port !== undefined && port !== portOf(url)) return false;
  if (host === '*') return true;
  const target = withoutDot(url.hostname);
  if (!host.startsWith('*.')) return target === nameOf(host);
  const suffix = nameOf(host.slice(2));
  return suffix !== undefined && target.endsWith(`.${suffix}`);
}

/** Whether a URL leads to this machine, whatever a resolver says. */
export function isLoopback({ hostname }: URL): boolean {
  const name = withoutDot(hostname);
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
}

function split(pattern: string): { host: string; port?: number } {
  // Of two colons without brackets, neither begins a port.
  if (/^[^[\]]*:[^[\]]*:/.test(pattern)) return { host: `[${pattern}]` };
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(pattern) ?? [];
  return host === undefined ? { host: pattern } : { host, port: Number(port) };
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** A host as a URL spells it; `undefined` for what is none. */
function nameOf(host: string): string | undefined {
  const isHost = /^(?:\[[^[\]]*\]|[^\s/\\?#@%:*[\]]+)$/.test(host);
  const text = `https://${host}/`;
  return isHost && URL.canParse(text) ? withoutDot(new URL(text).hostname) : undefined;
}

const withoutDot = (name: string) => name.replace(/\.$/, '');
