import { counted } from '../format.js';
import type { ReachCell, ReachKind, ReachMatrix, ReachRow } from '../inspect-api.js';
import { add, type Child, facts, field, fill, h, select, setAttribute } from './dom.js';

/** The most rows that are drawn. A filter finds the others. */
const MAX_ROWS = 400;

const KINDS: readonly (readonly [ReachKind, string])[] = [
  ['host', 'Hosts'],
  ['path', 'Paths'],
  ['secret', 'Secrets'],
  ['binary', 'Programs'],
  ['other', 'Other'],
];

/**
 * The matrix of tools and the things that they may touch, with filters, and with the reason for
 * each cell.
 */
export function reachView(matrix: ReachMatrix): HTMLElement {
  const text = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const tool = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const kind = select([['', 'Everything'], ...KINDS]);
  const all = h('input', { type: 'checkbox' });
  const count = h('p', { role: 'status', class: 'muted' });
  const why = h('section', {
    class: 'details',
    tabindex: 0,
    'aria-label': 'Why',
    'aria-live': 'polite',
  });
  const scroll = h('div', { class: 'scroll' });
  const draw = () => {
    const wanted = { text: text.value, tool: tool.value, kind: kind.value, all: all.checked };
    const shown = filterMatrix(matrix, wanted);
    fill(
      scroll,
      matrixTable(matrix, shown, (row, at) => fill(why, ...whyOf(matrix, row, at))),
    );
    fill(
      count,
      `${counted(shown.tools.length, 'tool')}, ${counted(shown.rows.length, 'row')}${
        shown.rows.length > MAX_ROWS ? `; the first ${MAX_ROWS} are shown` : ''
      }`,
    );
  };
  for (const input of [text, tool, all]) input.addEventListener('input', draw);
  kind.addEventListener('change', draw);
  fill(why, h('p', { class: 'muted' }, 'Choose a cell to see why a tool may do that.'));
  draw();
  const unconfined = matrix.tools.filter((each) => each.unconfined).map(({ name }) => name);
  return h(
    'div',
    { class: 'view' },
    h(
      'div',
      { class: 'filters' },
      field('Host, path, secret, program', text),
      field('Tool', tool),
      field('Show', kind),
      h('label', { class: 'check' }, all, 'Also tools that are not offered'),
      count,
    ),
    unconfined.length > 0 &&
      h('p', { class: 'warning' }, `Nothing bounds or records ${unconfined.join(', ')}.`),
    h('div', { class: 'split' }, scroll, why),
  );
}

interface Wanted {
  text: string;
  tool: string;
  kind: string;
  all: boolean;
}

interface Shown {
  /** The indexes of tools. */
  tools: number[];
  rows: ReachRow[];
}

function filterMatrix({ tools, rows }: ReachMatrix, { text, tool, kind, all }: Wanted): Shown {
  const name = tool.toLowerCase();
  const word = text.toLowerCase();
  const columns = tools.flatMap((each, index) =>
    (all || each.offered) && each.name.toLowerCase().includes(name) ? [index] : [],
  );
  return {
    tools: columns,
    rows: rows.filter(
      (row) =>
        (kind === '' || row.kind === kind) &&
        row.name.toLowerCase().includes(word) &&
        columns.some((index) => row.cells[index] !== undefined),
    ),
  };
}

type OnCell = (row: ReachRow, tool: number) => void;

function matrixTable({ tools, personality }: ReachMatrix, shown: Shown, onCell: OnCell) {
  const table = h('table', {
    class: 'matrix',
    role: 'grid',
    'aria-label': `Reach of ${personality}`,
  });
  add(
    table,
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'What'),
        ...shown.tools.map((index) =>
          h(
            'th',
            { scope: 'col', class: tools[index]?.offered === true ? 'tool' : 'tool muted' },
            h('span', {}, tools[index]?.name),
          ),
        ),
      ),
    ),
  );
  for (const [kind, label] of KINDS) {
    const rows = shown.rows.slice(0, MAX_ROWS).filter((row) => row.kind === kind);
    if (rows.length === 0) continue;
    add(
      table,
      h(
        'tbody',
        {},
        h('tr', {}, h('th', { scope: 'rowgroup', colspan: shown.tools.length + 1 }, label)),
        ...rows.map((row) => matrixRow(row, { tools, shown, onCell })),
      ),
    );
  }
  withArrowKeys(table);
  return table;
}

function matrixRow(
  row: ReachRow,
  { tools, shown, onCell }: { tools: ReachMatrix['tools']; shown: Shown; onCell: OnCell },
) {
  return h(
    'tr',
    {},
    h('th', { scope: 'row', class: 'what' }, h('bdi', {}, row.name)),
    ...shown.tools.map((index) => {
      const cell = row.cells[index];
      if (cell === undefined) return h('td', {});
      const name = tools[index]?.name ?? '';
      const button = h(
        'button',
        { type: 'button', tabindex: -1 },
        h('span', { class: 'unseen' }, `${name}, ${row.name}: ${cell.may}. Why?`),
        h('span', { 'aria-hidden': 'true' }, markOf(cell)),
      );
      button.addEventListener('click', () => onCell(row, index));
      button.addEventListener('focus', () => onCell(row, index));
      return h('td', { class: cell.may.includes('write') ? 'may writes' : 'may' }, button);
    }),
  );
}

function markOf({ may }: ReachCell): string {
  return may === 'yes'
    ? '●'
    : may
        .split(', ')
        .map((part) => part.slice(0, 1))
        .join('');
}

/** Only one cell can be reached by the tab key. The arrow keys lead from it to the others. */
function withArrowKeys(table: HTMLTableElement): void {
  const cells = [...table.querySelectorAll('td button')].filter(
    (cell): cell is HTMLButtonElement => cell instanceof HTMLButtonElement,
  );
  cells[0]?.setAttribute('tabindex', '0');
  table.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    for (const cell of table.querySelectorAll('[tabindex="0"]')) setAttribute(cell, 'tabindex', -1);
    setAttribute(target, 'tabindex', 0);
  });
  table.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (!(target instanceof HTMLButtonElement)) return;
    const next = nextCell(cells, target, key);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  });
}

function nextCell(
  cells: readonly HTMLButtonElement[],
  from: HTMLButtonElement,
  key: string,
): HTMLButtonElement | undefined {
  const at = cells.indexOf(from);
  const column = (cell: HTMLButtonElement) => cell.closest('td')?.cellIndex;
  const isBelow = (cell: HTMLButtonElement) => column(cell) === column(from);
  switch (key) {
    case 'ArrowRight':
      return cells[at + 1];
    case 'ArrowLeft':
      return cells[at - 1];
    case 'ArrowDown':
      return cells.slice(at + 1).find(isBelow);
    case 'ArrowUp':
      return cells.slice(0, at).findLast(isBelow);
    case 'Home':
      return cells[0];
    case 'End':
      return cells.at(-1);
    default:
      return undefined;
  }
}

function whyOf({ tools }: ReachMatrix, row: ReachRow, at: number): Child[] {
  const cell = row.cells[at];
  const tool = tools[at];
  if (cell === undefined || tool === undefined) return [];
  const lines = (entries: readonly string[], none: string): Child[] =>
    entries.length === 0
      ? [h('span', { class: 'muted' }, none)]
      : entries.map((entry) => h('code', { class: 'line' }, entry));
  return [
    h('h2', {}, tool.name),
    h('p', {}, h('bdi', {}, row.name)),
    facts([
      ['May', cell.may === 'yes' ? 'use it' : cell.may],
      ['How', cell.note],
      ['The tool declares', lines(cell.declared, 'it follows from other parts of the declaration')],
      ['The personality says', lines(cell.policy, 'nothing that narrows it')],
      ['The tool', tool.description],
    ]),
  ];
}
