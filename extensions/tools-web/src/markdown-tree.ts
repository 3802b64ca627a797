/** The part of the DOM that the writer of Markdown needs. */
export interface TreeNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly textContent: string | null;
  readonly childNodes: ArrayLike<TreeNode>;
}

/** A node that has a tag. */
export interface TreeElement extends TreeNode {
  getAttribute(name: string): string | null;
}

const ELEMENT = 1;
const TEXT = 3;

export function isElement(node: TreeNode): node is TreeElement {
  return node.nodeType === ELEMENT;
}

export function isText(node: TreeNode): boolean {
  return node.nodeType === TEXT;
}

/** Returns the children of a node that are elements. */
export function elementsOf(node: TreeNode): TreeElement[] {
  return Array.from(node.childNodes).filter(isElement);
}

/** Returns the class or the id of an element. `PageMarkup` writes some of them apart. */
export function nameOf(element: TreeElement, name: 'class' | 'id'): string | null {
  return element.getAttribute(`data-${name}`) ?? element.getAttribute(name);
}

/** Facts about a tree that are needed before it is written. */
export interface TreeFacts {
  /** Layout tables: they contain another table, or have one column. */
  layoutTables: ReadonlySet<TreeNode>;
  /** Labels of footnotes, by the id of the element that has their text. */
  notes: ReadonlyMap<string, string>;
}

interface Below {
  hasTable: boolean;
  hasBlocks: boolean;
  hasColumns: boolean;
}

/** Collects the facts of a tree in one pass. */
export function factsOf(root: TreeNode): TreeFacts {
  const layoutTables = new Set<TreeNode>();
  const asked = new Map<string, string>();
  const ids = new Set<string>();
  const visit = (node: TreeNode): Below => {
    const below: Below = { hasTable: false, hasBlocks: false, hasColumns: false };
    let cells = 0;
    for (const child of elementsOf(node)) {
      const found = visit(child);
      const name = child.nodeName;
      cells += name === 'TD' || name === 'TH' ? 1 : 0;
      below.hasTable ||= found.hasTable || name === 'TABLE';
      below.hasBlocks ||= found.hasBlocks || /^(?:H1|H2|PRE)$/.test(name);
      below.hasColumns ||= found.hasColumns && name !== 'TABLE';
    }
    below.hasColumns ||= cells > 1;
    if (!isElement(node)) return below;
    const isLayout = below.hasTable || below.hasBlocks || !below.hasColumns;
    if (node.nodeName === 'TABLE' && isLayout) layoutTables.add(node);
    const id = nameOf(node, 'id');
    if (id !== null) ids.add(id);
    const note = node.getAttribute('data-note');
    const label = note === null ? '' : labelOf(node);
    if (note !== null && label !== '' && !asked.has(note)) asked.set(note, label);
    return below;
  };
  visit(root);
  const notes = new Map([...asked].filter(([id]) => ids.has(id)));
  return { layoutTables, notes };
}

/** Reads the label of a note: `[12]`, `12` and `(12)` are note 12. */
function labelOf(node: TreeNode): string {
  const text = (node.textContent ?? '').trim().replaceAll(/^[[(]|[\])]$/g, '');
  return /^[\p{L}\p{N}*†‡§-]{1,20}(?: \d{1,4})?$/u.test(text) ? text.replace(' ', '-') : '';
}
