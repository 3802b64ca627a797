import { visible } from '../visible.js';

export type Child = Node | string | number | undefined | false;

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Creates an element. Text is set as text, so nothing that is shown is ever parsed as markup.
 *
 * @param attributes by their names; `true` is an attribute without a value, `false` means no
 * attribute
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  add(element, ...children);
  return element;
}

/** Sets or removes an attribute. Handlers and styles are properties, and are not allowed here. */
export function setAttribute(
  element: Element,
  name: string,
  value: string | number | boolean | undefined,
): void {
  if (value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : visible(String(value)));
}

export function add(element: Element, ...children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === false) continue;
    element.append(typeof child === 'object' ? child : visible(String(child)));
  }
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren();
  add(element, ...children);
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}) {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** A field with its label. */
export function field<T extends HTMLElement>(label: string, input: T): HTMLLabelElement {
  return h('label', { class: 'field' }, h('span', {}, label), input);
}

/** A list to choose one entry from. */
export function select(
  choices: readonly (readonly [value: string, label: string])[],
): HTMLSelectElement {
  const options = choices.map(([value, label]) => {
    const option = h('option', {}, label);
    // The exact value: it may be sent back.
    option.value = value;
    return option;
  });
  return h('select', {}, ...options);
}

/** A list of terms with their texts. Terms without a text are left out. */
export function facts(entries: readonly (readonly [term: string, what: Child | Child[]])[]) {
  const list = h('dl', { class: 'facts' });
  for (const [term, what] of entries) {
    const children = Array.isArray(what) ? what : [what];
    if (children.every((child) => child === undefined || child === '' || child === false)) continue;
    add(list, h('dt', {}, term), h('dd', {}, ...children));
  }
  return list;
}
