import { CapabilityError, EthosError } from '@ethosagent/types';

/**
 * The entries of host lists that led to a decision, normalised. A list that did not matter is
 * absent.
 */
export interface DecidingEntries {
  /**
   * The entry of the host set that covers the host. If only the operator's list lacks the host, the
   * entry that the tool declared.
   */
  readonly covers?: string;
  /** The entry of the operator's allow list. */
  readonly allow?: string;
  /** The entry of the operator's deny list. */
  readonly deny?: string;
  /** Present if only `allow_private_urls` allowed the address, which is private. */
  readonly privateUrls?: true;
}

/**
 * The decision of the rules on an access. `rule` is for the audit trail, `detail` for the reader.
 */
export type Verdict = { readonly rule: string; readonly entries?: DecidingEntries } & (
  | { readonly decision: 'allowed' }
  | { readonly decision: 'denied'; readonly detail: string }
);

type Denial = Verdict & { decision: 'denied' };

export function deny(rule: string, detail: string, entries?: DecidingEntries): Denial {
  return { decision: 'denied', rule, detail, ...(entries !== undefined && { entries }) };
}

class HostDenial extends CapabilityError {
  readonly entries: DecidingEntries | undefined;

  constructor({ detail, rule, entries }: Denial, options?: ErrorOptions) {
    super('HOST_NOT_ALLOWED', detail, rule, options);
    // Hidden when the error is printed.
    Object.defineProperty(this, 'entries', { value: entries, enumerable: false });
  }
}

export function denialError(verdict: Denial, options?: ErrorOptions): CapabilityError {
  return new HostDenial(verdict, options);
}

/** Returns the entries that decided a denial, if it names them. */
export function entriesOf(error: unknown): DecidingEntries | undefined {
  return error instanceof HostDenial ? error.entries : undefined;
}

/** Makes the denial after a redirect: the caller did not ask for the denied place itself. */
export function redirectedTo(url: URL, error: unknown): unknown {
  if (!(error instanceof CapabilityError) || error.code !== 'HOST_NOT_ALLOWED') return error;
  const said = error.message.slice(`${error.code}: `.length);
  // Most denials begin with the host.
  const what = said.startsWith(`${url.host} `)
    ? `, which ${said.slice(url.host.length + 1)}`
    : `: ${said}`;
  // `file:` and `data:` have no host.
  const detail = `a redirect led to ${url.host || `a ${url.protocol} address`}${what}`;
  return new CapabilityError('HOST_NOT_ALLOWED', detail, error.rule, { cause: error });
}

/**
 * Turns a failure of an allowed request into an error of this project. The message contains only
 * the host and a code. The original error may contain an address or a header, so it is kept only as
 * the cause.
 */
export function toNetworkError(host: string, error: unknown): EthosError {
  if (error instanceof EthosError) return error;
  const code = systemCodeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new EthosError('NETWORK_TIMEOUT', `${host} did not accept the connection in time`, {
      cause: error,
    });
  }
  const detail = `the request to ${host} failed${code ? ` (${code})` : ''}`;
  return new EthosError('NETWORK_FAILED', detail, { cause: error });
}

/**
 * Returns the code of the error or of one of its causes, which may form a circle. A text that does
 * not look like a code is ignored.
 */
function systemCodeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(at.code)) {
      return at.code;
    }
  }
  return undefined;
}
