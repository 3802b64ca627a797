import type { QuotaLimits, QuotaPolicy } from '@ethosagent/types';

/** The smaller one of each pair of caps. A missing cap is no cap. */
export function meetQuotas(
  a: QuotaPolicy | undefined,
  b: QuotaPolicy | undefined,
): QuotaPolicy | undefined {
  if (a === undefined && b === undefined) return undefined;
  const perCall = smaller(a?.per_call, b?.per_call);
  const perSession = smaller(a?.per_session, b?.per_session);
  return {
    ...(perCall !== undefined && { per_call: perCall }),
    ...(perSession !== undefined && { per_session: perSession }),
  };
}

const QUOTAS = [
  'requests',
  'bytes_in',
  'bytes_out',
  'process_seconds',
  'files_written',
  'store_bytes',
] as const satisfies readonly (keyof QuotaLimits)[];

function smaller(a: QuotaLimits | undefined, b: QuotaLimits | undefined): QuotaLimits | undefined {
  if (a === undefined && b === undefined) return undefined;
  const caps: QuotaLimits = {};
  for (const name of QUOTAS) {
    const cap = Math.min(
      a?.[name] ?? Number.POSITIVE_INFINITY,
      b?.[name] ?? Number.POSITIVE_INFINITY,
    );
    if (cap !== Number.POSITIVE_INFINITY) caps[name] = cap;
  }
  return caps;
}
