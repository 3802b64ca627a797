import { CapabilityError, EthosError } from '@ethosagent/types';

/** What a rule says of an access. `rule` is for the audit trail, `detail` for the reader. */
export type Verdict =
  | { readonly decision: 'allowed'; readonly rule: string }
  | { readonly decision: 'denied'; readonly rule: string; readonly detail: string };

export function deny(rule: string, detail: string): Verdict & { decision: 'denied' } {
  return { decision: 'denied', rule, detail };
}

export function denialError(verdict: Verdict & { decision: 'denied' }, options?: ErrorOptions) {
  return new CapabilityError('HOST_NOT_ALLOWED', verdict.detail, verdict.rule, options);
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
