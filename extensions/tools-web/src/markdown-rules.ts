import type TurndownService from 'turndown';

/** What the rules use of an element. */
interface Element {
  readonly nodeName: string;
  readonly parentNode: Element | null;
  readonly previousElementSibling: Element | null;
  readonly nextElementSibling: Element | null;
  readonly children: ArrayLike<Element>;
  getAttribute(name: string): string | null;
  querySelector(selector: string): Element | null;
}

const MAX_COLUMNS = 50;

/**
 * Lists without wide margins, and the tables, strikethrough and task lists of GitHub's Markdown.
 * Own rules, since those of the plugin for it take quadratic time for long tables, repeat a cell as
 * often as `colspan` says, and leave some tables as HTML.
 */
export function addMarkdownRules(service: TurndownService): void {
  const layoutTables = new WeakMap<Element, boolean>();
  const isLayout = (node: Element) => {
    const table = tableOf(node);
    if (table === undefined) return true;
    const known = layoutTables.get(table) ?? isLayoutTable(table);
    layoutTables.set(table, known);
    return known;
  };

  service.addRule('listItem', {
    filter: 'li',
    replacement: (content, node) => listItem(content, node),
  });
  service.addRule('strikethrough', {
    filter: ['del', 's'],
    replacement: (content) => (content.trim() === '' ? content : `~~${content}~~`),
  });
  service.addRule('tableCell', {
    filter: ['td', 'th'],
    replacement(content, node) {
      if (isLayout(node)) return `\n\n${content}\n\n`;
      const text = content
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|');
      const start = node.previousElementSibling === null ? '| ' : ' ';
      return `${start}${text} |${' |'.repeat(spanOf(node) - 1)}`;
    },
  });
  service.addRule('tableRow', {
    filter: 'tr',
    replacement(content, node) {
      if (isLayout(node)) return `\n\n${content}\n\n`;
      const columns = cellsOf(node).reduce((sum, cell) => sum + spanOf(cell), 0);
      const isFirst = isFirstRow(node);
      return `${content}\n${isFirst ? `|${' --- |'.repeat(Math.min(columns, MAX_COLUMNS))}\n` : ''}`;
    },
  });
  service.addRule('tableSection', {
    filter: ['thead', 'tbody', 'tfoot'],
    replacement: (content) => content,
  });
  service.addRule('table', {
    filter: 'table',
    replacement: (content, node) =>
      isLayout(node) ? `\n\n${content}\n\n` : `\n\n${content.trim()}\n\n`,
  });
  service.addRule('caption', {
    filter: 'caption',
    replacement: (content) => (content.trim() === '' ? '' : `${content.trim()}\n\n`),
  });
}

function listItem(content: string, node: Element): string {
  const parent = node.parentNode;
  let mark = '- ';
  if (parent?.nodeName === 'OL') {
    const start = Number.parseInt(parent.getAttribute('start') ?? '1', 10);
    mark = `${(Number.isSafeInteger(start) ? start : 1) + positions(parent, node)}. `;
  }
  const indent = ' '.repeat(mark.length);
  const text = content.trim().replaceAll(/\n(?=[^\n])/g, `\n${indent}`);
  return `${mark}${text}${node.nextElementSibling === null ? '' : '\n'}`;
}

const counted = new WeakMap<Element, { last: Element; at: number }>();

/** How many items come before one. Items are asked for in order, so each is counted once. */
function positions(list: Element, item: Element): number {
  const known = counted.get(list);
  let at = 0;
  if (known !== undefined && item.previousElementSibling === known.last) at = known.at + 1;
  else if (item.previousElementSibling !== null) at = Array.from(list.children).indexOf(item);
  counted.set(list, { last: item, at });
  return at;
}

function cellsOf(row: Element): Element[] {
  return Array.from(row.children);
}

function tableOf(node: Element): Element | undefined {
  for (let up: Element | null = node; up !== null; up = up.parentNode) {
    if (up.nodeName === 'TABLE') return up;
  }
  return undefined;
}

/** A table that is there to put things in places: it holds another, or has one column. */
function isLayoutTable(table: Element): boolean {
  return (
    table.querySelector('table, h1, h2, pre') !== null ||
    table.querySelector('td + td, td + th, th + td, th + th') === null
  );
}

function isFirstRow(row: Element): boolean {
  if (row.previousElementSibling !== null) return false;
  const section = row.parentNode;
  if (section === null || section.nodeName === 'TABLE') return true;
  const before = section.previousElementSibling;
  return before === null || !['THEAD', 'TBODY'].includes(before.nodeName);
}

function spanOf(cell: Element): number {
  const span = Number.parseInt(cell.getAttribute('colspan') ?? '1', 10);
  return span >= 1 && span <= MAX_COLUMNS ? span : 1;
}
