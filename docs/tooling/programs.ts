import { join } from 'node:path';
import type { Block } from './blocks.js';
import { REPOSITORY } from './markdown.js';

/** Imports that only work under vitest. */
const TESTS = /from '(vitest|@ethosagent\/conformance)'/;

/** Writes what `npx ethosagent init --yes` writes, in the folder that has the packages. In one line. */
const HOME =
  "import { symlinkSync as $link } from 'node:fs'; import { writeHome as $init } from '@ethosagent/create'; " +
  `$link(${JSON.stringify(join(REPOSITORY, 'docs', 'node_modules'))}, 'node_modules'); ` +
  "await $init(process.cwd(), { id: 'assistant', folder: 'workspace', commands: false });";

/** A block of TypeScript, with those that continue it. */
export interface Program {
  page: string;
  /** The line of its first line of code. */
  line: number;
  /** Unique, and fit for a file. */
  name: string;
  /** Every line of code stands on the line that it has in the page. */
  source: string;
  /** What running it does: nothing, the program's own, or its tests under vitest. */
  runs: 'no' | 'node' | 'vitest';
  /** What it prints, where the page says so. */
  output: string | undefined;
}

/**
 * The programs of a page. A block is one of its own unless it is marked `continues`; it is run
 * unless it is marked `compile`.
 */
export function programsOf(blocks: readonly Block[]): Program[] {
  const programs: Program[] = [];
  for (const block of blocks) {
    const { page, line, lang, code, marks } = block;
    const current = programs.at(-1);
    if (lang === 'text' && marks.has('output')) {
      if (current === undefined || current.runs === 'no') {
        throw new Error(`${page}:${line}: the output of no block that runs`);
      }
      current.output = [current.output, code].filter((text) => text !== undefined).join('\n');
    } else if (lang !== 'ts' || marks.has('signature') || isFragment(block)) {
      // Checked elsewhere, or not at all.
    } else if (marks.has('continues')) {
      if (current === undefined) throw new Error(`${page}:${line}: continues no block`);
      const last = current.source.split('\n').length;
      current.source += '\n'.repeat(line - last) + code;
      current.runs = howToRun(code, marks, current.runs);
    } else {
      programs.push({
        page,
        line,
        name: `${page.replace(/\.md$/, '').replaceAll('/', '-')}-${line}`,
        source: (marks.has('home') ? HOME : '') + '\n'.repeat(line - 1) + code,
        runs: howToRun(code, marks),
        output: undefined,
      });
    }
  }
  return programs;
}

function howToRun(
  code: string,
  marks: Block['marks'],
  before: Program['runs'] = 'node',
): Program['runs'] {
  if (marks.has('compile')) return 'no';
  return TESTS.test(code) ? 'vitest' : before;
}

function isFragment({ page, line, code, marks }: Block): boolean {
  const reason = marks.get('no-check');
  if (reason === undefined) return false;
  if (reason !== '' && /\.\.\.|…/.test(code)) return true;
  throw new Error(`${page}:${line}: only a fragment with "..." goes unchecked, and says why`);
}
