import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HiddenPart } from './marked-text.js';
import { OutputLog } from './output-log.js';

const SECRET = 'hunter2';
const MARK = '[x]';
const secrets = {
  longestForm: 20,
  marks(text: string): HiddenPart[] {
    return [...text.matchAll(/hunter2/g)].map(({ index }) => ({
      start: index,
      end: index + SECRET.length,
      mark: MARK,
    }));
  },
  begunAtEnd: (text: string) => /(?:h|hu|hun|hunt|hunte|hunter)$/.exec(text)?.[0].length ?? 0,
};

type Write = ['stdout' | 'stderr', string];

function logOf(...writes: Write[]): OutputLog {
  const log = new OutputLog(() => secrets);
  for (const [stream, text] of writes) log.add(stream, text);
  return log;
}

function textOf(log: OutputLog, stream: 'stdout' | 'stderr', cursor = 0): string {
  const { chunks } = log.read(cursor, 2_000_000);
  return chunks.flatMap((chunk) => (chunk.stream === stream ? [chunk.text] : [])).join('');
}

describe('OutputLog', () => {
  const filler = 'y'.repeat(65_530);
  it.each<[string, Write[], string]>([
    [
      'in small writes',
      [
        ['stdout', 'a hun'],
        ['stdout', 'ter'],
        ['stdout', '2 b'],
      ],
      'a [x] b',
    ],
    [
      'across large chunks',
      [
        ['stdout', `${filler}hun`],
        ['stdout', `ter2${filler}`],
      ],
      `${filler}[x]${filler}`,
    ],
    [
      'around the other stream',
      [
        ['stdout', 'hun'],
        ['stderr', 'ter2'],
        ['stdout', 'ter2 b'],
      ],
      '[x] b',
    ],
    [
      'at the end, without a line break',
      [
        ['stdout', 'name? '],
        ['stdout', SECRET],
      ],
      'name? [x]',
    ],
  ])('hides a secret %s', (_name, writes, shown) => {
    expect(textOf(logOf(...writes), 'stdout')).toBe(shown);
  });

  it.each<[string, Write[], string, string]>([
    ['of one write', [['stdout', 'name? hunter']], 'name? ', 'name? hunter'],
    [
      'of several writes',
      [
        ['stdout', 'name? h'],
        ['stdout', 'unt'],
      ],
      'name? ',
      'name? hunt',
    ],
    [
      'that other output follows',
      [
        ['stdout', 'name? hun'],
        ['stderr', 'wait'],
      ],
      'name? ',
      'name? hunwait',
    ],
    [
      'of both streams',
      [
        ['stderr', 'wait h'],
        ['stdout', 'name? hun'],
      ],
      'wait ',
      'wait hname? hun',
    ],
    ['after a whole one', [['stdout', 'a hunter2 hunt']], 'a [x] ', 'a [x] hunt'],
  ])(
    'shows what may be the start of a secret when nothing more comes, and no sooner: %s',
    (_name, writes, before, after) => {
      const log = logOf(...writes);
      const shown = (cursor = 0) =>
        log
          .read(cursor)
          .chunks.map(({ text }) => text)
          .join('');
      const { cursor } = log.read();
      expect(shown()).toBe(before);
      expect(cursor).toBe(log.readableEnd);
      expect(log.read(cursor)).toMatchObject({ chunks: [], cursor });
      log.finish();
      expect(shown()).toBe(after);
      expect(before + shown(cursor)).toBe(after);
    },
  );

  it('shows the start of what becomes no secret', () => {
    const log = logOf(['stdout', 'name? hunt'], ['stdout', 'ing']);
    expect(textOf(log, 'stdout')).toBe('name? hunting');
    expect(log.readableEnd).toBe(13);
  });

  it('hides the rest of a secret that was cut off the start, or that is read from its middle', () => {
    const log = logOf(
      ['stdout', `${'a'.repeat(5_000)}hun`],
      ['stdout', `ter2${'b'.repeat(999_999)}`],
    );
    expect(log.read().droppedChars).toBeGreaterThan(0);
    expect(textOf(log, 'stdout')).toBe('b'.repeat(999_999));
    expect(textOf(logOf(['stdout', 'hunter2 b']), 'stdout', 3)).toBe('[x] b');
  });

  it('returns as many characters as asked for, and each once', () => {
    const log = logOf(['stdout', 'a hunter2 b hunter2']);
    let shown = '';
    for (let cursor = 0; cursor < log.readableEnd; ) {
      const { chunks, cursor: next } = log.read(cursor, 3);
      const text = chunks.map((chunk) => chunk.text).join('');
      expect(text.length).toBeLessThanOrEqual(3);
      expect(next).toBeGreaterThan(cursor);
      shown += text;
      cursor = next;
    }
    expect(shown).toBe('a [ b [x]');
  });

  it('shows of each stream what a redaction of the whole would, however it is written and read', () => {
    const piece = fc.constantFrom(
      'hunter2',
      'hun',
      'ter2',
      'h',
      '2',
      ' ',
      'y'.repeat(30),
      'z'.repeat(4_100),
    );
    const write = fc.tuple(fc.constantFrom<Write[0]>('stdout', 'stderr'), piece);
    fc.assert(
      fc.property(fc.array(write), (writes) => {
        const log = logOf();
        const read = { stdout: '', stderr: '' };
        let cursor = 0;
        const readOn = () => {
          const { chunks, cursor: next } = log.read(cursor);
          for (const { stream, text } of chunks) read[stream] += text;
          cursor = next;
        };
        for (const [stream, text] of writes) {
          log.add(stream, text);
          readOn();
        }
        log.finish();
        readOn();
        for (const stream of ['stdout', 'stderr'] as const) {
          const whole = writes.map(([to, text]) => (to === stream ? text : '')).join('');
          const shown = whole.replaceAll(SECRET, MARK);
          expect(textOf(log, stream)).toBe(shown);
          expect(read[stream]).toBe(shown);
        }
      }),
    );
  });
});
