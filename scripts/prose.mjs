// Finds the phrases of prose-rules.mjs in the pages, comments and messages of the repository. The linters
// of prose on npm read Markdown, and not the comments and messages of TypeScript; and they take ten times as long.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { PROSE_RULES } from './prose-rules.mjs';

const CHECKED = ['*.md', '*.ts', '*.tsx', '*.mjs', '*.yaml', '*.yml'];
// Texts of others, and the rules themselves.
const NOT_CHECKED = [
  'scripts/prose*',
  '**/fixtures/**',
  '**/corpus/**',
  'benchmarks/**',
  'pnpm-lock.yaml',
  'LICENSE',
];

/** What a line of a comment begins with. A phrase may run over several lines. */
const LINE_BREAK = /\n[ \t]*(?:\/\/+|\*(?!\/)|#|>)?[ \t]*/g;

/**
 * @param {string} text of a file
 * @returns {{ line: number, found: string, write: string }[]}
 */
export function proseProblems(text) {
  // Each line break becomes a space. Its place is kept, to find the line of a phrase later.
  const breaks = [];
  let removed = 0;
  const prose = text.replace(LINE_BREAK, (match, at) => {
    breaks.push(at - removed);
    removed += match.length - 1;
    return ' ';
  });
  const lineAt = (position) => breaks.filter((at) => at < position).length + 1;
  return PROSE_RULES.flatMap(({ phrase, write }) =>
    [...prose.matchAll(new RegExp(phrase, `g${phrase.flags}`))].map(({ index, 0: found }) => ({
      line: lineAt(index + (/^\W/.test(found) ? 2 : 1)),
      found,
      write,
    })),
  ).sort((one, other) => one.line - other.line);
}

function checkRepository() {
  const files = execFileSync(
    'git',
    [
      'ls-files',
      '-z',
      '--cached',
      '--others',
      '--exclude-standard',
      '--',
      ...CHECKED,
      ...NOT_CHECKED.map((glob) => `:!${glob}`),
    ],
    { encoding: 'utf8' },
  );
  let count = 0;
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(name))) {
    for (const { line, found, write } of proseProblems(readFileSync(file, 'utf8'))) {
      process.stdout.write(`${file}:${line} "${found.trim()}": write ${write}\n`);
      count += 1;
    }
  }
  if (count > 0) process.stdout.write(`${count} phrases that CONTRIBUTING.md asks to leave out\n`);
  process.exitCode = count > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) checkRepository();
