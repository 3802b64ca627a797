import type { NetworkAccess, NetworkSpending } from './hop.js';
import type { NetworkGuard } from './network-guard.js';

/** What a proxy lets through, and where it listens. */
export interface FilteringProxyOptions {
  /** Whose rules hold for every request and connection. */
  guard: NetworkGuard;
  /**
   * Where to make a unix socket, in a folder that nobody else can enter. Who can connect to it needs
   * no credential. A port of 127.0.0.1, with a credential, when absent.
   */
  socketPath?: string | undefined;
  /** Told once of every request and tunnel, before it is connected to. What it throws refuses it. */
  onAccess?: ((access: NetworkAccess) => void) | undefined;
  /** Told of what is used up. What it throws ends the request or the tunnel. */
  onSpend?: ((amounts: Partial<Record<NetworkSpending, number>>) => void) | undefined;
  /** Connections of clients at once. 64 when absent. */
  maxConnections?: number | undefined;
  /** Milliseconds without a byte until a connection is ended. 60,000 when absent. */
  idleTimeoutMs?: number | undefined;
  /** Milliseconds for the connection to a server. 10,000 when absent. */
  connectTimeoutMs?: number | undefined;
}

/** An HTTP proxy that runs. */
export interface FilteringProxy {
  /**
   * For `HTTP_PROXY` and `HTTPS_PROXY`, with the credential. Of a unix socket `undefined`: whoever
   * forwards to it chooses the URL.
   */
  readonly url: string | undefined;
  /**
   * The value of the header `x-ethos-proxy` of what the proxy answers itself; proxies of one guard
   * have the same. The header is taken out of what servers answer over `http:`; in a tunnel it
   * can't be, and a page may have read it.
   */
  readonly mark: string;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}
