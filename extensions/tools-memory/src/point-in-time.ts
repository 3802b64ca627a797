const MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const AGO = /^(\d{1,6})\s?([mhdw])$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/** The accepted forms, for the message that refuses any other. */
export const TIME_FORMS =
  'a date (2026-11-22), a date with a time (2026-11-22T14:30Z), or how long ago (30m, 12h, 7d, 2w)';

/**
 * Parses a point in time, such as `2026-11-22` or `7d`. A time without a zone is UTC.
 *
 * @param text as a person writes it
 * @param now milliseconds since the epoch
 * @param edge whether a date stands for the beginning or for the end of its day
 * @returns milliseconds since the epoch; `undefined` when the text has none of `TIME_FORMS`
 */
export function pointInTime(text: string, now: number, edge: 'begin' | 'end'): number | undefined {
  const written = text.trim();
  const ago = AGO.exec(written.toLowerCase());
  if (ago !== null) {
    const [, count, unit] = ago;
    return isUnit(unit) ? now - Number(count) * MS[unit] : undefined;
  }
  if (DATE.test(written)) {
    const begin = timeOf(`${written}T00:00:00Z`, written);
    return begin === undefined || edge === 'begin' ? begin : begin + MS.d;
  }
  const parts = DATE_TIME.exec(written);
  if (parts === null) return undefined;
  const zone = parts[7] === undefined ? 'Z' : '';
  return timeOf(`${written.replace(' ', 'T').toUpperCase()}${zone}`, written);
}

/**
 * Parses a time. Returns `undefined` for a day that does not exist, e.g. February 30, which `Date`
 * takes for a day of the next month.
 */
function timeOf(iso: string, written: string): number | undefined {
  const [year = 0, month = 0, day = 0] = written.slice(0, 10).split('-').map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const time = Date.parse(iso.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  return Number.isNaN(time) ? undefined : time;
}

function isUnit(unit: string | undefined): unit is keyof typeof MS {
  return unit !== undefined && Object.hasOwn(MS, unit);
}
