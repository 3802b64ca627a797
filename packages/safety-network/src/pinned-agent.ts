import { isIP, type LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { ResolvedAddress } from './address-book.js';

/**
 * Returns the addresses of a host that may be connected to at a port. Rejects if one of its
 * addresses is not allowed.
 */
export type ResolveChecked = (host: string, port: number) => Promise<readonly ResolvedAddress[]>;

/**
 * An idle socket does not keep the process alive. It is closed after this time, whatever the server
 * offers.
 */
const KEEP_ALIVE_MS = 4_000;

interface Origin {
  readonly waiting: Set<Dispatcher.DispatchHandler>;
  readonly connecting: Set<Socket>;
}

/**
 * An undici agent that connects only to checked addresses. The check is part of the connection's
 * own look-up, so that nothing can change between the check and the connection. It never uses
 * proxies.
 */
export class PinnedAgent {
  readonly #agent: Agent;
  readonly #resolve: ResolveChecked;
  readonly #connectors = new Map<number, buildConnector.connector>();
  readonly #origins = new Map<string, Origin>();

  constructor(resolve: ResolveChecked) {
    this.#resolve = resolve;
    this.#agent = new Agent({
      connect: (options, callback) => this.#connect(options, callback),
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // Each request has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * Sends a request.
   *
   * @param onWaiting gets, at once, a function to call when the request has got its connection or
   * no longer wants one. If no request waits for a connection any more, it is given up. undici
   * alone would complete it.
   */
  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    onWaiting: (stopWaiting: () => void) => void,
  ): void {
    const key = String(options.origin);
    const origin = this.#origins.get(key) ?? { waiting: new Set(), connecting: new Set() };
    this.#origins.set(key, origin);
    origin.waiting.add(handler);
    onWaiting(() => {
      if (!origin.waiting.delete(handler) || origin.waiting.size > 0) return;
      this.#origins.delete(key);
      for (const socket of origin.connecting) socket.destroy(unwanted());
    });
    this.#agent.dispatch(options, handler);
  }

  /** Ends every connection, with its requests. */
  async destroy(): Promise<void> {
    await this.#agent.destroy();
  }

  #connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    if (isIP(options.hostname) === 0) {
      this.#open(options, port, callback);
      return;
    }
    // For an address, the system looks up no name, so the check would never be asked. It is asked
    // here.
    this.#resolve(options.hostname, port).then(
      () => this.#open(options, port, callback),
      (error: Error) => callback(error, null),
    );
  }

  #open(options: buildConnector.Options, port: number, callback: buildConnector.Callback): void {
    const origin = this.#origins.get(originOf(options));
    // The last request may have ended while the address was checked.
    if (origin === undefined) {
      callback(unwanted(), null);
      return;
    }
    const { connecting } = origin;
    const socket: unknown = this.#connector(port)(options, (...result) => {
      if (socket instanceof Socket) connecting.delete(socket);
      callback(...result);
    });
    if (socket instanceof Socket) connecting.add(socket);
  }

  /** Returns the connector of a port. Each port has its own, because a look-up gets no port. */
  #connector(port: number): buildConnector.connector {
    const known = this.#connectors.get(port);
    if (known) return known;
    const lookup: LookupFunction = (hostname, { all }, callback) => {
      this.#resolve(hostname, port).then(
        (addresses) => {
          const [first] = addresses;
          if (all) callback(null, [...addresses]);
          else callback(null, first?.address ?? '', first?.family);
        },
        (error: Error) => callback(error, ''),
      );
    };
    const connector = buildConnector({ lookup, allowH2: false });
    this.#connectors.set(port, connector);
    return connector;
  }
}

function unwanted(): Error {
  return new Error('every request for this connection has ended');
}

function originOf({ protocol, host, hostname }: buildConnector.Options): string {
  return `${protocol}//${host ?? hostname}`;
}
