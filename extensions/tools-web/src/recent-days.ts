import type { Freshness, SearchQuery } from './search-provider.js';

const DAYS: Readonly<Record<Freshness, number>> = { day: 1, week: 7, month: 31, year: 366 };
const DAY_MS = 24 * 3_600_000;

/** Returns the first day of wanted results, `YYYY-MM-DD`; `undefined` for any day. */
export function firstDay({ since, freshness }: SearchQuery, now: number): string | undefined {
  if (since !== undefined) return since;
  return freshness && dayOf(now - DAYS[freshness] * DAY_MS);
}

/** Returns the shortest span that reaches back to a day; `undefined` when none does. */
export function spanSince(day: string, now: number): Freshness | undefined {
  const days = (now - Date.parse(day)) / DAY_MS;
  for (const span of ['day', 'week', 'month', 'year'] as const) {
    if (days <= DAYS[span]) return span;
  }
  return undefined;
}

/** Returns the day of a time, in UTC, `YYYY-MM-DD`. @param time milliseconds since the epoch */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
