import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Page, REPOSITORY } from './markdown.js';
import { type Export, publicEntries } from './public-exports.js';

// A mark without a block gets a new block.
const MARKED_BLOCK = /(<!-- signature: (\S+) -->\n)(?:\n*```ts\n[\s\S]*?```)?/g;
const BETWEEN = '// ---- next ----';

/**
 * The texts of reference pages as they are to be: each block that is marked `signature: <name>`
 * holds the declaration of that export, with its comment, as the compiler wrote it.
 *
 * @throws for a name that the package of the page doesn't export
 */
export function withSignatures(pages: readonly Pick<Page, 'path' | 'text'>[]): string[] {
  const entries = publicEntries();
  const wanted = pages.flatMap(({ path, text }) => {
    const offered = entries.flatMap(({ page, exports }) => (page === path ? exports : []));
    return [...text.matchAll(MARKED_BLOCK)].map(([, , name]) => {
      const found = offered.find((candidate) => candidate.name === name);
      if (found === undefined) throw new Error(`${path}: ${name} is not exported`);
      return found;
    });
  });
  const signatures = format(wanted.map(declarationOf)).values();
  return pages.map(({ text }) =>
    text.replace(
      MARKED_BLOCK,
      (_, mark: string) => `${mark}\`\`\`ts\n${signatures.next().value}\n\`\`\``,
    ),
  );
}

function declarationOf({ name, declarations }: Export): string {
  const lines = readFileSync(declarations, 'utf8').split('\n');
  const isDeclaration = (line: string) =>
    new RegExp(
      `^export (declare )?(abstract )?(class|function|const|interface|type) ${name}\\b`,
    ).test(line);
  const first = lines.findIndex(isDeclaration);
  if (first < 0) throw new Error(`${declarations} does not declare ${name}`);
  // Overloads stand together.
  const last = lines.findLastIndex(isDeclaration);
  const end = last + endOf(lines.slice(last).join('\n')).split('\n').length - 1;
  return [...commentAbove(lines, first), ...lines.slice(first, end + 1)]
    .filter((line) => line.trim() !== '#private;')
    .join('\n')
    .replace(/^export (declare )?/gm, '')
    .replaceAll(/import\(["'][^"']+["']\)\./g, '');
}

const COMMENT_OR_TEXT =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g;

/** A declaration, up to the `;` or the `}` that ends it. */
function endOf(text: string): string {
  const isBlock = /^export (declare )?(abstract )?(class|interface) /.test(text);
  const plain = text.replace(COMMENT_OR_TEXT, (match) => match.replace(/[^\n]/g, ' '));
  let depth = 0;
  for (let at = 0; at < plain.length; at += 1) {
    const character = plain.charAt(at);
    if ('{[('.includes(character)) depth += 1;
    if ('}])'.includes(character)) depth -= 1;
    if (depth === 0 && character === (isBlock ? '}' : ';')) return text.slice(0, at + 1);
  }
  throw new Error(`no end of ${text.slice(0, 80)}`);
}

/** The comment, without its example: the page has its own. */
function commentAbove(lines: readonly string[], declaration: number): string[] {
  if (lines[declaration - 1]?.endsWith('*/') !== true) return [];
  const start = lines.findLastIndex((line, index) => index < declaration && line.startsWith('/**'));
  const comment = lines.slice(start, declaration);
  const example = comment.findIndex((line) => line.startsWith(' * @example'));
  if (example < 0) return comment;
  const end = comment[example - 1] === ' *' ? example - 1 : example;
  return [...comment.slice(0, end), ' */'];
}

function format(declarations: readonly string[]): string[] {
  if (declarations.length === 0) return [];
  return execFileSync(
    process.execPath,
    [
      join(REPOSITORY, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'),
      'format',
      '--stdin-file-path=docs/signatures.d.ts',
    ],
    { cwd: REPOSITORY, encoding: 'utf8', input: declarations.join(`\n${BETWEEN}\n`) },
  )
    .split(BETWEEN)
    .map((text) => text.trim());
}
