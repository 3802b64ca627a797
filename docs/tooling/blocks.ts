import type { Code, Html } from 'mdast';
import { visit } from 'unist-util-visit';
import type { Page } from './markdown.js';

/** A fenced block, with what the comment before it asks for. */
export interface Block {
  page: string;
  /** The line of its first line of code, counted from 1. */
  line: number;
  lang: string;
  code: string;
  marks: ReadonlyMap<string, string>;
}

/** What a comment before a block may ask for. */
const MARKS = {
  run: 'ts',
  home: 'ts',
  compile: 'ts',
  continues: 'ts',
  'no-check': 'ts',
  signature: 'ts',
  output: 'text',
  personality: 'yaml',
} as const;

/**
 * The fenced blocks of a page. A comment right before a block, `<!-- mark -->` or
 * `<!-- mark: value -->`, several separated by a comma, says how it is checked.
 *
 * @throws for a mark that doesn't exist or isn't for this kind of block, since it would check nothing
 */
export function blocksOf({ path, tree }: Page): Block[] {
  const blocks: Block[] = [];
  visit(tree, 'code', (node: Code, index, parent) => {
    const before = index === undefined ? undefined : parent?.children[index - 1];
    const line = (node.position?.start.line ?? 0) + 1;
    const lang = node.lang ?? '';
    const marks = before?.type === 'html' ? parseMarks(before) : new Map<string, string>();
    for (const mark of marks.keys()) {
      if (!isKnown(mark) || MARKS[mark] !== lang) {
        throw new Error(`${path}:${line - 1}: no mark ${mark} for a block of ${lang || 'nothing'}`);
      }
    }
    blocks.push({ page: path, line, lang, code: node.value, marks });
  });
  return blocks;
}

function isKnown(mark: string): mark is keyof typeof MARKS {
  return Object.hasOwn(MARKS, mark);
}

function parseMarks({ value }: Html): Map<string, string> {
  const [, inside] = /^<!--(.*)-->$/s.exec(value.trim()) ?? [];
  return new Map(
    inside?.split(',').map((mark) => {
      const [name = '', ...rest] = mark.split(':');
      return [name.trim(), rest.join(':').trim()];
    }),
  );
}
