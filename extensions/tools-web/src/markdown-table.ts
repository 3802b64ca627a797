import { elementsOf, type TreeElement } from './markdown-tree.js';

const MAX_COLUMNS = 50;
/** As in HTML. */
const MAX_ROWS = 65_534;
const SECTIONS: ReadonlySet<string> = new Set(['THEAD', 'TBODY', 'TFOOT']);

/**
 * Writes a table in GitHub's Markdown, with its caption before it. A cell over several rows is
 * written in the first of them, and leaves its place empty in the others.
 *
 * @param textOf returns the text of a cell on one line
 */
export function writeTable(table: TreeElement, textOf: (cell: TreeElement) => string): string {
  const captions: string[] = [];
  const rows: string[] = [];
  /** For each column, the first row that no cell above reaches. */
  const free: number[] = [];
  let row = 0;
  const visit = (parent: TreeElement): void => {
    for (const child of elementsOf(parent)) {
      const name = child.nodeName;
      if (SECTIONS.has(name)) {
        // No cell reaches beyond its section.
        free.length = 0;
        visit(child);
      } else if (name === 'CAPTION') captions.push(textOf(child));
      else if (name === 'TR') {
        const { line, columns } = rowOf(child, { row, free, textOf });
        row += 1;
        rows.push(line);
        if (rows.length === 1) rows.push(`|${' --- |'.repeat(Math.min(columns, MAX_COLUMNS))}`);
      }
    }
  };
  visit(table);
  return [...captions.filter((text) => text !== ''), rows.join('\n')].join('\n\n').trim();
}

function rowOf(
  tr: TreeElement,
  { row, free, textOf }: { row: number; free: number[]; textOf: (cell: TreeElement) => string },
): { line: string; columns: number } {
  let line = '|';
  let columns = 0;
  const leaveOut = (): void => {
    for (; (free[columns] ?? 0) > row; columns += 1) line += ' |';
  };
  for (const cell of elementsOf(tr)) {
    leaveOut();
    const span = spanOf(cell, 'colspan', MAX_COLUMNS);
    const end = row + spanOf(cell, 'rowspan', MAX_ROWS);
    const text = textOf(cell).trim().replaceAll('|', '\\|');
    line += ` ${text}${text === '' ? '' : ' '}|${' |'.repeat(span - 1)}`;
    columns += span;
    for (let at = columns - span; at < Math.min(columns, MAX_COLUMNS); at += 1) free[at] = end;
  }
  leaveOut();
  return { line, columns };
}

function spanOf(cell: TreeElement, name: 'colspan' | 'rowspan', max: number): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? '1', 10);
  return span >= 1 && span <= max ? span : 1;
}
