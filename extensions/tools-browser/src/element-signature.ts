import type { TreeElement, TreeNode } from './page-tree.js';

/** Roles whose text is typed text, which may change. */
const FIELDS: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);
/** The properties that identify an element beside its texts: its link and its states. */
const FACTS = ['url', 'checked', 'pressed', 'selected'] as const;

/**
 * Returns a signature of an element and its content. It stays the same while the element means the
 * same.
 */
export function signatureOf(element: TreeElement): string {
  const { role, name = '' } = element;
  const facts = FACTS.map((fact) => element[fact] ?? null);
  return JSON.stringify([role, name, facts, textsOf(element)]);
}

function textsOf(element: TreeElement): string[] {
  const texts: string[] = [];
  const open: TreeNode[] = [element];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') {
      texts.push(node);
      continue;
    }
    if (node !== element && node.name) texts.push(node.name);
    if (node.text && !FIELDS.has(node.role)) texts.push(node.text);
    // The content of a frame changes with the document of the frame, so it does not count.
    if (node.role !== 'iframe') open.push(...(node.children ?? []));
  }
  return texts;
}
