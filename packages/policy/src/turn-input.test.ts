import { errorCodeOf, type NewSchedule, type NewTurn } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { checkedSchedule, checkedTurn } from './turn-input.js';

const turn: NewTurn = { id: 't', sessionId: 's', prompt: 'Go on.' };
const schedule: NewSchedule = { id: 'daily', cron: '0 9 * * *', prompt: 'Go on.' };

/** Of plain JavaScript, which can pass anything. */
const odd = (value: unknown): never => value as never;

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return errorCodeOf(error);
  }
  return undefined;
}

const letter = { id: 'l', name: 'l.txt', mediaType: 'text/plain', sizeBytes: 1 };

describe('checkedTurn', () => {
  it.each<[string, Partial<NewTurn>]>([
    ['the largest numbers', { priority: 1_000_000, delayMs: 1e13, backoffMs: 1e13 }],
    ['the lowest priority', { priority: -1_000_000 }],
    ['a thousand turns before it', { after: Array.from({ length: 1_000 }, (_, n) => `${n}`) }],
    ['a stored attachment', { attachments: [letter] }],
    ['the longest key of a rate', { rates: [{ key: 'k'.repeat(1_000), max: 1, perMs: 1 }] }],
  ])('takes %s', (_what, given) => {
    expect(codeOf(() => checkedTurn({ ...turn, ...given }))).toBeUndefined();
  });

  it.each<[string, Partial<NewTurn>, code?: string]>([
    ['a priority above the highest', { priority: 1_000_001 }],
    ['a priority below the lowest', { priority: -1_000_001 }],
    ['a delay above the longest', { delayMs: 1e13 + 1 }],
    ['a wait between tries above the longest', { backoffMs: 1e13 + 1 }],
    ['half an attempt', { maxAttempts: 0.5 }],
    ['a prompt that is no text', { prompt: odd(['Go on.']) }],
    [
      'attachments that are too long',
      { attachments: [{ id: 'x'.repeat(1e7), name: 'a', mediaType: 'text/plain', sizeBytes: 1 }] },
    ],
    [
      'an attachment with its bytes',
      { attachments: [odd({ ...letter, bytes: new Uint8Array(1) })] },
    ],
    ['an attachment without a name', { attachments: [odd({ ...letter, name: undefined })] }],
    ['attachments that are no list', { attachments: odd('letter') }],
    ['a text for whether it is untrusted', { untrusted: odd('true') }],
    ['one turn too many before it', { after: Array.from({ length: 1_001 }, (_, n) => `${n}`) }],
    ['turns before it that are no list', { after: odd('ab') }],
    ['a misspelt `untrusted`, which would trust the prompt', odd({ untrused: true })],
    ['a misspelt `rates`, which would limit nothing', odd({ rate: [] })],
    ['a misspelt `after`, which would wait for nothing', odd({ afer: ['other'] })],
    ['rates that are no list', { rates: odd({ key: 'k', max: 1, perMs: 1 }) }],
    ['a rate that is no object', { rates: odd([null]) }],
    ['a rate of half a turn', { rates: [{ key: 'k', max: 0.5, perMs: 1 }] }],
    ['a rate of no time', { rates: [{ key: 'k', max: 1, perMs: 0 }] }],
    ['a key of a rate above its bytes', { rates: [{ key: 'é'.repeat(501), max: 1, perMs: 1 }] }],
    ['a tenant that is no key', { tenant: 'a\ud800' }, 'KEY_INVALID'],
    ['a turn before it that is no key', { after: ['a\ud800'] }, 'KEY_INVALID'],
    ['a session that is no key', { sessionId: odd(1) }, 'KEY_INVALID'],
  ])('refuses %s', (_what, given, code = 'VALUE_INVALID') => {
    expect(codeOf(() => checkedTurn({ ...turn, ...given }))).toBe(code);
  });

  it('tries a turn once where somebody asks for no attempt', () => {
    expect(checkedTurn({ ...turn, maxAttempts: 0 }).maxAttempts).toBe(1);
  });

  it('waits once for a turn that is named twice', () => {
    expect(checkedTurn({ ...turn, after: ['a', 'b', 'a'] }).after).toEqual(['a', 'b']);
  });
});

describe('checkedSchedule', () => {
  it('writes a schedule as JSON', () => {
    const { id, json } = checkedSchedule({ ...schedule, prompt: 'a\ud800', priority: 2 });
    expect([id, JSON.parse(json)]).toEqual([
      'daily',
      { ...schedule, prompt: 'a\ufffd', priority: 2 },
    ]);
  });

  it.each<[string, Partial<NewSchedule>]>([
    ['a cron that is no text', { cron: odd(5) }],
    ['a cron that is too long', { cron: '*'.repeat(1_001) }],
    ['a time zone that is no name', { timezone: odd(1) }],
    ['an empty time zone, which would be that of the machine', { timezone: '' }],
    ['a misspelt time zone, which would be UTC', odd({ timzone: 'Europe/Vienna' })],
    ['a misspelt `untrusted`, which would trust the prompt', odd({ untrused: true })],
    ['turns before it', odd({ after: ['other'] })],
    ['what a turn may not have', { priority: Number.NaN }],
  ])('refuses %s', (_what, given) => {
    expect(codeOf(() => checkedSchedule({ ...schedule, ...given }))).toBe('VALUE_INVALID');
  });

  it.each([undefined, null, 'text', []])('refuses %j, and so does checkedTurn', (given) => {
    expect(codeOf(() => checkedSchedule(odd(given)))).toBe('VALUE_INVALID');
    expect(codeOf(() => checkedTurn(odd(given)))).toBe('VALUE_INVALID');
  });
});
