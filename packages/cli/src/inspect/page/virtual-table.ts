import { add, type Child, fill, h, setAttribute } from './dom.js';

/** In pixels. The style sheet has the same value. */
const ROW_PX = 30;
const OVERSCAN = 12;

/** A column: its header, and its cell for a row. */
export interface Column<T> {
  name: string;
  class?: string;
  cell(row: T): Child;
}

export interface VirtualTableOptions<T> {
  label: string;
  columns: readonly Column<T>[];
  /** Called with the range of rows in view, before they are drawn. `to` is exclusive. */
  onShown?(from: number, to: number): void;
  onChosen(row: T): void;
  /** The CSS class of a row. */
  rowClass?(row: T): string;
}

let tables = 0;

/**
 * A table of any length. Only the rows in view are in the document. It can be used with the arrow
 * keys.
 */
export class VirtualTable<T> {
  readonly element: HTMLElement;
  readonly #options: VirtualTableOptions<T>;
  readonly #body = h('div', { role: 'rowgroup', class: 'vt-body' });
  readonly #id: string;
  #count = 0;
  #rowAt: (index: number) => T | undefined = () => undefined;
  #chosen = -1;
  /** Whether the row was chosen before it was loaded. */
  #isAwaited = false;
  #isDrawing = false;

  constructor(options: VirtualTableOptions<T>) {
    this.#options = options;
    tables += 1;
    this.#id = `table-${tables}`;
    const { label, columns } = options;
    const head = h(
      'div',
      { role: 'row', class: 'vt-row vt-head', 'aria-rowindex': 1 },
      ...columns.map(({ name, class: kind = '' }) =>
        h('span', { role: 'columnheader', class: kind }, name),
      ),
    );
    this.element = h(
      'div',
      {
        class: 'vt',
        role: 'grid',
        tabindex: 0,
        'aria-label': label,
        'aria-colcount': columns.length,
      },
      h('div', { role: 'rowgroup', class: 'vt-top' }, head),
      this.#body,
    );
    this.element.addEventListener('scroll', () => this.draw());
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  get isAtTop(): boolean {
    return this.element.scrollTop < ROW_PX;
  }

  /** Replaces the rows. A row that is not loaded yet is drawn empty. */
  setRows(count: number, rowAt: (index: number) => T | undefined): void {
    this.#count = count;
    this.#rowAt = rowAt;
    this.#chosen = Math.min(this.#chosen, count - 1);
    setAttribute(this.element, 'aria-rowcount', count + 1);
    this.#body.style.height = `${count * ROW_PX}px`;
    this.draw();
  }

  /** Keeps the rows in view in their place although rows were added before them. */
  shift(rows: number): void {
    if (this.#chosen >= 0) this.#chosen += rows;
    if (!this.isAtTop) this.element.scrollTop += rows * ROW_PX;
  }

  /** Scrolls to the first row. */
  toTop(): void {
    this.#chosen = -1;
    this.#isAwaited = false;
    this.element.scrollTop = 0;
  }

  draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.floor(scrollTop / ROW_PX);
    // The header covers one row.
    const last = Math.min(this.#count, Math.ceil((scrollTop + clientHeight) / ROW_PX) - 1);
    const from = Math.max(0, first - OVERSCAN);
    const to = Math.min(this.#count, last + OVERSCAN);
    this.#options.onShown?.(first, last);
    const rows: HTMLElement[] = [];
    for (let index = from; index < to; index += 1) rows.push(this.#row(index));
    fill(this.#body, ...rows);
    if (this.#isAwaited) this.#tellChosen();
    const isShown = this.#chosen >= from && this.#chosen < to;
    setAttribute(this.element, 'aria-activedescendant', isShown && `${this.#id}-${this.#chosen}`);
  }

  #row(index: number): HTMLElement {
    const { columns, rowClass } = this.#options;
    const row = this.#rowAt(index);
    const isChosen = index === this.#chosen;
    const element = h('div', {
      id: `${this.#id}-${index}`,
      role: 'row',
      class: `vt-row ${row === undefined ? '' : (rowClass?.(row) ?? '')}`,
      'aria-rowindex': index + 2,
      'aria-selected': String(isChosen),
    });
    element.dataset.index = String(index);
    element.style.transform = `translateY(${index * ROW_PX}px)`;
    for (const { cell, class: kind = '' } of columns) {
      add(
        element,
        h('span', { role: 'gridcell', class: kind }, row === undefined ? '…' : cell(row)),
      );
    }
    return element;
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PX) - 2);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.#chosen + 1,
      ArrowUp: this.#chosen - 1,
      PageDown: this.#chosen + page,
      PageUp: this.#chosen - page,
      Home: 0,
      End: this.#count - 1,
      Enter: this.#chosen,
    };
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to === undefined || this.#count === 0) return;
    event.preventDefault();
    this.#choose(Math.min(Math.max(to, 0), this.#count - 1));
  }

  #onClick({ target }: MouseEvent): void {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
    if (row !== null) this.#choose(Number(row.dataset.index));
  }

  #choose(index: number): void {
    this.#chosen = index;
    const top = index * ROW_PX;
    const { scrollTop, clientHeight } = this.element;
    // The header covers one row.
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + 2 * ROW_PX > scrollTop + clientHeight) {
      this.element.scrollTop = top + 2 * ROW_PX - clientHeight;
    }
    this.draw();
    this.#tellChosen();
  }

  #tellChosen(): void {
    const row = this.#rowAt(this.#chosen);
    this.#isAwaited = row === undefined;
    if (row !== undefined) this.#options.onChosen(row);
  }
}
