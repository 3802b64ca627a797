import type { NetworkAccess, NetworkSpending } from './hop.js';
import type { NetworkGuard } from './network-guard.js';

/** The guard of a proxy, and the place where the proxy listens. */
export interface FilteringProxyOptions {
  /** The guard that checks every request and every connection. */
  guard: NetworkGuard;
  /**
   * The path of a unix socket to listen on. Only the user of this process may enter its folder,
   * since the socket asks for no credential. When absent, the proxy listens on a port of 127.0.0.1 and requires a
   * credential.
   */
  socketPath?: string | undefined;
  /**
   * Called once for each request or tunnel, before its connection is made. An error that it throws
   * refuses the request or tunnel.
   */
  onAccess?: ((access: NetworkAccess) => void) | undefined;
  /** Called with the requests and bytes that are used up. An error ends the request or tunnel. */
  onSpend?: ((amounts: Partial<Record<NetworkSpending, number>>) => void) | undefined;
  /** The most connections of clients at once. 64 when absent. */
  maxConnections?: number | undefined;
  /** Milliseconds without a byte after which a connection is ended. 60,000 when absent. */
  idleTimeoutMs?: number | undefined;
  /** Milliseconds within which the connection to a server must be made. 10,000 when absent. */
  connectTimeoutMs?: number | undefined;
}

/** A running HTTP proxy. */
export interface FilteringProxy {
  /**
   * The URL for `HTTP_PROXY` and `HTTPS_PROXY`, with the credential. `undefined` for a unix socket:
   * the program that forwards to the socket chooses the URL.
   */
  readonly url: string | undefined;
  /**
   * The value of the header `x-ethos-proxy`, by which a client recognises answers that the proxy
   * itself makes. Proxies of one guard have the same value. The proxy removes the header from the
   * answers of servers over `http:`. It can't do so in a tunnel, and a page may have read the
   * value.
   */
  readonly mark: string;
  /** Ends every connection, and stops listening. */
  close(): Promise<void>;
}
