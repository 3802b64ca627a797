import { connect, type LookupFunction, type Socket } from 'node:net';
import { normalizeHost, urlPort } from '@ethosagent/policy';
import { CapabilityError } from '@ethosagent/types';
import { addressOf, type ResolvedAddress } from './address-book.js';
import { type DecidingEntries, denialError, entriesOf, toNetworkError } from './denials.js';
import type { NetworkAccess, NetworkSpending } from './hop.js';
import type { NetworkRules } from './network-rules.js';
import { RequestLifetime } from './request-lifetime.js';

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
  /** Milliseconds within which the address must be found and the connection made. */
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
  rules: ConnectionRules,
  options: ConnectOptions,
): Promise<Socket> {
  const late = `no connection to ${url.host} within ${options.timeoutMs} ms`;
  const lifetime = new RequestLifetime(options.timeoutMs, [rules.closing, options.signal], late);
  try {
    return await open(url, rules, { options, lifetime });
  } finally {
    lifetime.release();
  }
}

async function open(
  url: URL,
  { rules, resolveChecked }: ConnectionRules,
  { options, lifetime }: { options: ConnectOptions; lifetime: RequestLifetime },
): Promise<Socket> {
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
    const addresses = await lifetime.race(resolveChecked(host, port));
    entries = { ...entries, ...rules.openedBy(host, port, addresses.map(addressOf)) };
    lifetime.throwIfFailed();
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
  return new Promise((resolve, reject) => {
    lifetime.onFailure((reason) => {
      socket.destroy();
      reject(reason);
    });
    socket.once('error', (error) => reject(toNetworkError(url.host, error)));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
