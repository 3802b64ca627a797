import { oneLine } from '@ethosagent/policy';
import { z } from 'zod';

/** An element of a snapshot that a call can name. */
export interface KnownNode {
  role: string;
  name: string;
  /** The ref that the library gave the element. */
  ref: string;
  /** The element as the library returned it. */
  node: TreeElement;
}

/** A node of a page in the library's form: a text, or an element with role and name. */
export type TreeNode =
  | string
  | {
      role: string;
      name?: string | undefined;
      text?: string | undefined;
      ref?: string | undefined;
      children?: TreeNode[] | undefined;
      [property: string]: unknown;
    };

export type TreeElement = Exclude<TreeNode, string>;

/** Roles whose name is the text of their label. */
const FIELDS: ReadonlySet<string> = new Set([
  'checkbox',
  'combobox',
  'listbox',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'textbox',
]);
const KNOWN_PROPERTIES: ReadonlySet<string> = new Set([
  'role',
  'name',
  'text',
  'ref',
  'children',
  'cursor',
  'box',
]);
/** Matches the library's ref of an element in a frame. */
const FRAME_REF = /^(f\d+)/;
const NAME_CHARS = 500;
const TEXT_CHARS = 5_000;
const MAX_DEPTH = 60;
const MAX_LINES = 50_000;

/** A snapshot as text, a line for each element, and its elements by the refs that it shows. */
export interface RenderedTree {
  lines: string[];
  known: Map<string, KnownNode>;
  /** Whether a part of the page is missing. */
  isPartial: boolean;
}

export interface RenderOptions {
  /** Returns the ref that is shown for a ref of the library. */
  refOf: (libraryRef: string) => string;
  /** Hides texts that must not be shown. */
  hide?: (text: string) => string;
  /** The library's refs of fields whose content is secret. */
  secretRefs: ReadonlySet<string>;
}

const nodeSchema = z.looseObject({
  role: z.string().catch('generic'),
  name: z.string().optional().catch(undefined),
  text: z.string().optional().catch(undefined),
  ref: z.string().optional().catch(undefined),
  children: z.array(z.unknown()).optional().catch(undefined),
});

/** Whether an element is in a frame, and not in the page itself. */
export function isOfFrame({ ref }: Pick<KnownNode, 'ref'>): boolean {
  return FRAME_REF.test(ref);
}

/** Parses a snapshot of the library, down to the shown depth. It is empty when it is invalid. */
export function parseTree(json: unknown, depth = 0): { tree: TreeNode[]; isPartial: boolean } {
  const tree: TreeNode[] = [];
  let isPartial = false;
  for (const item of Array.isArray(json) ? json : []) {
    if (typeof item === 'string') tree.push(item);
    const node = nodeSchema.safeParse(item).data;
    if (node === undefined) continue;
    const below = depth < MAX_DEPTH ? parseTree(node.children, depth + 1) : undefined;
    isPartial ||= below?.isPartial ?? (node.children ?? []).length > 0;
    tree.push({ ...node, children: below?.tree ?? [] });
  }
  return { tree, isPartial };
}

/** Returns the library's refs of all text fields that are not empty. */
export function filledFields(tree: readonly TreeNode[]): string[] {
  const refs: string[] = [];
  walk(tree, (node) => {
    if (node.role === 'textbox' && node.ref !== undefined && node.text) refs.push(node.ref);
  });
  return refs;
}

/**
 * Renders a snapshot as an indented list: role, name, ref, states. A text of the page could look
 * like a ref or like a line of the snapshot, so texts of the page are JSON strings in quotes.
 */
export function renderTree(
  tree: readonly TreeNode[],
  { refOf, secretRefs, hide = (text) => text }: RenderOptions,
): RenderedTree {
  const lines: string[] = [];
  const known = new Map<string, KnownNode>();
  let isPartial = false;
  const add = (node: TreeNode, depth: number): void => {
    if (lines.length >= MAX_LINES) {
      isPartial = true;
      return;
    }
    const indent = ' '.repeat(depth);
    if (typeof node === 'string') {
      lines.push(`${indent}- text: ${quoted(hide(node), TEXT_CHARS)}`);
      return;
    }
    if (isWrapper(node)) {
      for (const child of shownChildren(node)) add(child, depth);
      return;
    }
    const { role, text, ref } = node;
    const name = hide(node.name ?? '');
    const isSecret = ref !== undefined && secretRefs.has(ref);
    let line = `${indent}- ${oneLine(role, 40)}`;
    if (name !== '') line += ` ${quoted(name, NAME_CHARS)}`;
    if (ref !== undefined) {
      const shown = refOf(ref);
      line += ` ${shown}`;
      known.set(shown, { role, name: oneLine(name, 80), ref, node });
    }
    for (const [property, value] of Object.entries(node)) {
      if (KNOWN_PROPERTIES.has(property)) continue;
      line += ` [${oneLine(property, 40)}${stateOf(typeof value === 'string' ? hide(value) : value)}]`;
    }
    if (text) line += `: ${isSecret ? '(hidden)' : quoted(hide(text), TEXT_CHARS)}`;
    lines.push(line);
    for (const child of shownChildren(node)) add(child, depth + 1);
  };
  for (const node of tree) add(node, 0);
  return { lines, known, isPartial };
}

/** Whether an element is only a container: each action on it is possible on its children. */
function isWrapper({ role, name, text, children = [], ref: _, active: __, ...rest }: TreeElement) {
  const holds = children.some((child) => typeof child !== 'string');
  return role === 'generic' && !name && !text && holds && !('cursor' in rest) && hasNoState(rest);
}

function hasNoState(rest: object): boolean {
  return Object.keys(rest).every((property) => KNOWN_PROPERTIES.has(property));
}

/**
 * Returns the content of an element, without labels that are also the names of elements beside
 * them.
 */
function shownChildren({ children = [] }: TreeElement): TreeNode[] {
  return children.filter((child, at) => {
    if (typeof child !== 'string') return true;
    const besides = [children[at - 1], children[at + 1]];
    return !besides.some(
      (other) => typeof other === 'object' && FIELDS.has(other.role) && other.name === child.trim(),
    );
  });
}

/** Finds the element with this ref of the library. */
export function nodeWithRef(tree: readonly TreeNode[], ref: string): TreeElement | undefined {
  let found: TreeElement | undefined;
  walk(tree, (node) => {
    if (node.ref === ref) found = node;
  });
  return found;
}

function walk(tree: readonly TreeNode[], visit: (node: TreeElement) => void): void {
  const open: TreeNode[] = [...tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') continue;
    visit(node);
    for (const child of node.children ?? []) open.push(child);
  }
}

function stateOf(value: unknown): string {
  if (value === true) return '';
  return `=${typeof value === 'string' ? quoted(value, 300) : oneLine(String(value), 40)}`;
}

function quoted(text: string, maxChars: number): string {
  return JSON.stringify(oneLine(text, maxChars));
}
