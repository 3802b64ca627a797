const MAX_SECONDS = 366 * 24 * 3_600;

/**
 * Reads the seconds to wait from a `Retry-After`, which has a number or a date (RFC 9110, 10.2.3).
 *
 * @param now milliseconds since the epoch
 */
export function retryAfterSeconds(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  if (!/^[A-Za-z]{3},? /.test(text)) return undefined;
  const time = Date.parse(text.slice(0, 100));
  if (Number.isNaN(time)) return undefined;
  return Math.min(Math.max(Math.ceil((time - now) / 1_000), 0), MAX_SECONDS);
}
