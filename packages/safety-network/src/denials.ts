import { CapabilityError, EthosError } from '@ethosagent/types';

/** The entries of host lists that a decision went by, normalised. Each is absent where none was found. */
export interface DecidingEntries {
  /** Of the host set; of a host that only the operator's list lacks, of what the tool declared. */
  readonly covers?: string;
  /** Of the operator's allow list. */
  readonly allow?: string;
  /** Of the operator's deny list. */
  readonly deny?: string;
  /** `allow_private_urls` was needed: the address is one that only it opens. */
  readonly privateUrls?: true;
}

/** What a rule says of an access. `rule` is for the audit trail, `detail` for the reader. */
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
    // Not for whoever prints the error.
    Object.defineProperty(this, 'entries', { value: entries, enumerable: false });
  }
}

export function denialError(verdict: Denial, options?: ErrorOptions): CapabilityError {
  return new HostDenial(verdict, options);
}

/** What a denial went by, as far as it says so. */
export function entriesOf(error: unknown): DecidingEntries | undefined {
  return error instanceof HostDenial ? error.entries : undefined;
}

/** A denial that a redirect led to: the caller did not ask for the place that was denied. */
export function redirectedTo(url: URL, error: unknown): unknown {
  if (!(error instanceof CapabilityError) || error.code !== 'HOST_NOT_ALLOWED') return error;
  const said = error.message.slice(`${error.code}: `.length);
  const detail = `a redirect led to ${url.host}: ${said}`;
  return new CapabilityError('HOST_NOT_ALLOWED', detail, error.rule, { cause: error });
}

/**
 * Any failure of an allowed request, as an error of this project. The message has the host and a
 * code only: the original message, kept as the cause, may hold an address or a header.
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

/** Of the error or of what caused it, which may be a circle. Only what looks like a code is one. */
function systemCodeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(at.code)) {
      return at.code;
    }
  }
  return undefined;
}
