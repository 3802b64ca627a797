import { describe, expect, it } from 'vitest';
import { pointInTime } from './point-in-time.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const iso = (time: number | undefined) => time && new Date(time).toISOString();

describe('pointInTime', () => {
  it.each([
    ['2026-11-05', '2026-11-05T00:00:00.000Z', '2026-11-06T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    [' 2026-11-05T10:30 ', '2026-11-05T10:30:00.000Z', undefined],
    ['2026-11-05 10:30:15', '2026-11-05T10:30:15.000Z', undefined],
    ['2026-11-05T10:30:15.250z', '2026-11-05T10:30:15.250Z', undefined],
    ['2026-11-05T10:30+02:00', '2026-11-05T08:30:00.000Z', undefined],
    ['2026-11-05T10:30-0330', '2026-11-05T14:00:00.000Z', undefined],
    ['30m', '2026-11-22T11:30:00.000Z', undefined],
    ['12h', '2026-11-22T00:00:00.000Z', undefined],
    ['7d', '2026-11-15T12:00:00.000Z', undefined],
    ['2 W', '2026-11-08T12:00:00.000Z', undefined],
  ])('%j is %s', (text, begin, end) => {
    expect(iso(pointInTime(text, NOW, 'begin'))).toBe(begin);
    expect(iso(pointInTime(text, NOW, 'end'))).toBe(end ?? begin);
  });

  it.each([
    '',
    'yesterday',
    '7',
    '7y',
    '-7d',
    '7.5d',
    '2026-02-30',
    '2026-13-01',
    '2025-02-29',
    '2026-11-05T25:00',
    '2026-11-05T10:61',
    '2026-11-05T10:30+99:00',
    '05.11.2026',
    '11/05/2026',
    '20261105',
    '1234567890123',
    '2026-11-05T10:30Z extra',
  ])('%j is none', (text) => {
    expect(pointInTime(text, NOW, 'begin')).toBeUndefined();
  });
});
