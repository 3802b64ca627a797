import { elementsOf, type TreeElement } from './markdown-tree.js';

const MAX_COLUMNS = 50;
const SECTIONS: ReadonlySet<string> = new Set(['THEAD', 'TBODY', 'TFOOT']);

/**
 * Writes a table in GitHub's Markdown, with its caption before it.
 *
 * @param textOf returns the text of a cell on one line
 */
export function writeTable(table: TreeElement, textOf: (cell: TreeElement) => string): string {
  const captions: string[] = [];
  const rows: string[] = [];
  const visit = (parent: TreeElement): void => {
    for (const child of elementsOf(parent)) {
      const name = child.nodeName;
      if (SECTIONS.has(name)) visit(child);
      else if (name === 'CAPTION') captions.push(textOf(child));
      else if (name === 'TR') {
        const { line, columns } = rowOf(child, textOf);
        rows.push(line);
        if (rows.length === 1) rows.push(`|${' --- |'.repeat(Math.min(columns, MAX_COLUMNS))}`);
      }
    }
  };
  visit(table);
  return [...captions.filter((text) => text !== ''), rows.join('\n')].join('\n\n').trim();
}

function rowOf(
  row: TreeElement,
  textOf: (cell: TreeElement) => string,
): { line: string; columns: number } {
  let line = '|';
  let columns = 0;
  for (const cell of elementsOf(row)) {
    const span = spanOf(cell);
    const text = textOf(cell).trim().replaceAll('|', '\\|');
    line += ` ${text}${text === '' ? '' : ' '}|${' |'.repeat(span - 1)}`;
    columns += span;
  }
  return { line, columns };
}

function spanOf(cell: TreeElement): number {
  const span = Number.parseInt(cell.getAttribute('colspan') ?? '1', 10);
  return span >= 1 && span <= MAX_COLUMNS ? span : 1;
}
