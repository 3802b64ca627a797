import type { TreeElement, TreeNode } from './page-tree.js';

/** Roles whose text is what was typed into them, and changes with it. */
const FIELDS: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);
/** What an action on an element goes by, beside its texts: where it leads, and how it stands. */
const FACTS = ['url', 'checked', 'pressed', 'selected'] as const;

/** What an element says of itself, and what is in it: equal as long as it means the same. */
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
    // What is in a frame comes and goes with its own document.
    if (node.role !== 'iframe') open.push(...(node.children ?? []));
  }
  return texts;
}
