import { setMaxListeners } from 'node:events';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { normalizeHost, urlPort } from '@ethosagent/policy';
import { CapabilityError, EthosError } from '@ethosagent/types';
import { addressOf, type ResolvedAddress } from './address-book.js';
import { type DecidingEntries, denialError, entriesOf, toNetworkError } from './denials.js';
import type { NetworkAccess, NetworkSpending } from './hop.js';
import type { NetworkRules } from './network-rules.js';

/** The options of one connection. */
export interface ConnectOptions {
  /**
   * Called once with the decision, before there is a connection. An error that it throws rejects
   * the call.
   */
  onAccess?: ((access: NetworkAccess) => void) | undefined;
  /**
   * Called with `requests: 1`, before there is a connection. An error that it throws rejects the
   * call.
   */
  onSpend?: ((amounts: Partial<Record<NetworkSpending, number>>) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds within which the connection must be made. */
  timeoutMs: number;
}

export interface ConnectionRules {
  readonly rules: NetworkRules;
  /** Ends an attempt to connect, with its reason. */
  readonly closing: AbortSignal;
  /** Returns the checked addresses of a host name; none if the host itself is an address. */
  resolveChecked(host: string, port: number): Promise<readonly ResolvedAddress[]>;
}

/**
 * Opens a connection to the host and port of a URL. It is checked like a request, and goes to a
 * checked address.
 */
export async function openConnection(
  url: URL,
  { rules, closing, resolveChecked }: ConnectionRules,
  options: ConnectOptions,
): Promise<Socket> {
  const signals = options.signal === undefined ? [closing] : [closing, options.signal];
  const host = normalizeHost(url.hostname) ?? url.hostname;
  const port = urlPort(url);
  let entries: DecidingEntries = {};
  const report = (decision: NetworkAccess['decision'], rule: string) =>
    options.onAccess?.({ url: `${url.protocol}//${url.host}/`, host, decision, rule, entries });
  let rule: string;
  try {
    const verdict = rules.judgeUrl(url);
    rule = verdict.rule;
    entries = verdict.entries ?? {};
    if (verdict.decision === 'denied') throw denialError(verdict);
    const addresses = await resolveChecked(host, port);
    entries = { ...entries, ...rules.openedBy(host, port, addresses.map(addressOf)) };
    for (const signal of signals) signal.throwIfAborted();
    options.onSpend?.({ requests: 1 });
  } catch (error) {
    entries = { ...entries, ...entriesOf(error) };
    if (error instanceof CapabilityError) report('denied', error.rule);
    throw error;
  }
  report('allowed', rule);
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    resolveChecked(hostname, port).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
  const socket = connect({ host, port, lookup, noDelay: true });
  return connected(socket, url.host, { timeoutMs: options.timeoutMs, signals });
}

function connected(
  socket: Socket,
  host: string,
  { timeoutMs, signals }: { timeoutMs: number; signals: readonly AbortSignal[] },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const detail = `${host} did not accept the connection in time`;
      socket.destroy(new EthosError('NETWORK_TIMEOUT', detail));
    }, timeoutMs);
    const reason = () => signals.find(({ aborted }) => aborted)?.reason;
    const onAbort = () => socket.destroy(toError(reason()));
    const settle = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
    };
    for (const signal of signals) {
      // Node would warn of a leak when eleven connections are being opened.
      setMaxListeners(Number.POSITIVE_INFINITY, signal);
      signal.addEventListener('abort', onAbort, { once: true });
    }
    socket.once('error', (error) => {
      settle();
      reject(error === reason() ? error : toNetworkError(host, error));
    });
    socket.once('connect', () => {
      settle();
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
