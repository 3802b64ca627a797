/** A time of day in UTC with milliseconds, as in the audit log. */
export function timeOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(11, 23) : '';
}

/** A date and a time in UTC. */
export function dateOf(ms: number): string {
  return Number.isFinite(ms)
    ? `${new Date(ms).toISOString().replace('T', ' ').slice(0, 19)} UTC`
    : '';
}

export function durationOf(ms: number | undefined): string {
  if (ms === undefined) return '';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

export function costOf(usd: number | undefined): string {
  return usd === undefined ? '' : `$${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** `1 event`, `2 events`. */
export function counted(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** What is known of a call that has begun and whose end is not recorded. */
export const UNFINISHED =
  'It still runs, or its process ended and it may have run. It is not run again.';
