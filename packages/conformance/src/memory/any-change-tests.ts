import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { codeOf } from '../code-of.js';
import { fuzz } from '../fuzz.js';
import { modelOfChange } from './memory-model.js';
import { add, type MemoryWorld } from './memory-world.js';

/** A model of the changes, compared over sequences of them, and texts that imitate headings. */
export function anyChangeTests(w: MemoryWorld): void {
  describe('whatever is changed', () => {
    const word = fc.constantFrom('tea', 'Tea', 'milk', 'żółć', '茶', '$&', 'a.b', '😀');
    const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '));
    const heading = fc.constantFrom('', 'One', 'one', 'Two', 'Three');
    const change = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), section: heading, text }),
      fc.record(
        { kind: fc.constant('replace' as const), section: heading, match: word, text },
        { requiredKeys: ['kind', 'text'] },
      ),
      fc.record(
        { kind: fc.constant('remove' as const), section: heading, match: word },
        { requiredKeys: ['kind'] },
      ),
    );

    fuzz(
      'a memory is what the model makes of it',
      fc.array(change, { maxLength: 12 }),
      async (changes) => {
        const scope = w.fresh();
        let model: readonly { heading: string; text: string }[] = [];
        for (const each of changes) {
          const next = modelOfChange(model, each);
          const done = await codeOf(w.memory.change(scope, each));
          expect(done).toBe(typeof next === 'string' ? next : 'done');
          if (typeof next !== 'string') model = next;
          expect(await w.sectionsOf(scope)).toEqual(model);
        }
      },
      { promised: 'key-value', runs: { check: 12, long: 5_000 } },
    );

    const line = fc.constantFrom(
      '## Forged',
      '# Top',
      '### Deep',
      '##',
      '## ',
      '```',
      '~~~',
      '<!--',
      '-->',
      '<script>',
      '---',
      '===',
      '> ## quoted',
      '- ## listed',
      '    ## code',
      'Under',
      'words',
      '',
      '\\## escaped',
      '\t',
      '## Forged ##',
      '\uFEFF',
      '[a]: <',
      '<pre>',
      '   ## indented',
      '1. one',
      '  ',
    );
    const markdown = fc
      .tuple(fc.array(line, { maxLength: 5 }), fc.constantFrom('\n', '\r\n', '\r'))
      .map(([lines, eol]) => lines.join(eol));

    fuzz(
      'no text makes, hides or changes another section',
      fc.tuple(
        markdown,
        markdown,
        fc.constantFrom<string>('', 'A', 'B', 'New', '## x', 'x #', '`y'),
      ),
      async ([first, second, section]) => {
        const scope = await w.made(add('', 'start'), add('A', 'one'), add('B', 'two'));
        for (const text of [first, second]) {
          const before = await w.sectionsOf(scope);
          const code = await codeOf(w.memory.change(scope, add(section, text)));
          const after = await w.sectionsOf(scope);
          if (code !== 'done') {
            expect(code).toBe('VALUE_INVALID');
            expect(after).toEqual(before);
            continue;
          }
          const rest = (all: typeof after) => all.filter(({ heading }) => heading !== section);
          expect(rest(after)).toEqual(rest(before));
          const old = before.find(({ heading }) => heading === section)?.text ?? '';
          const now = after.find(({ heading }) => heading === section)?.text ?? '';
          expect(now.startsWith(old)).toBe(true);
          const added = text
            .replace(/\r\n?/g, '\n')
            .replace(/^(?:[ \t]*\n)+/, '')
            .trimEnd();
          expect(now.endsWith(added)).toBe(true);
        }
      },
      { promised: 'key-value', runs: { check: 20, long: 20_000 } },
    );
  });
}
