import type { TableCell } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';
import type { Page } from './markdown.js';

/** A cell of a table. */
export interface Cell {
  text: string;
  /** Its pieces of code. */
  code: string[];
}

export interface Table {
  header: string[];
  rows: Cell[][];
}

/** The tables of a page. */
export function tablesOf({ tree }: Page): Table[] {
  const tables: Table[] = [];
  visit(tree, 'table', ({ children: [header, ...body] }) => {
    tables.push({
      header: (header?.children ?? []).map((cell) => textOf(cell)),
      rows: body.map(({ children }) => children.map(cellOf)),
    });
  });
  return tables;
}

function cellOf(node: TableCell): Cell {
  const code: string[] = [];
  visit(node, 'inlineCode', ({ value }) => {
    code.push(value);
  });
  return { text: textOf(node), code };
}
