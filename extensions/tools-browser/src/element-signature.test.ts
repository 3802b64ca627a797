import { expect, it } from 'vitest';
import { signatureOf } from './element-signature.js';
import type { TreeElement } from './page-tree.js';

const LINK: TreeElement = { role: 'link', name: 'Go', url: '/a', children: ['Go'] };
const BOX: TreeElement = { role: 'checkbox', name: 'Share', children: [] };
const LIST: TreeElement = { role: 'combobox', name: 'How', children: ['one', 'two'] };

it.each<[what: string, before: TreeElement, change: object]>([
  ['leads elsewhere', LINK, { url: '/b' }],
  ['is renamed', LINK, { name: 'Delete' }],
  ['has another role', LINK, { role: 'button' }],
  ['has another text', LINK, { children: ['Delete'] }],
  ['has a picture with another name', LINK, { children: [{ role: 'img', name: 'Delete' }] }],
  ['was set', BOX, { checked: true }],
  ['was pressed', BOX, { pressed: true }],
  ['was chosen', BOX, { selected: true }],
  ['has other choices', LIST, { children: ['two', 'three'] }],
])('an element that %s has another signature', (_what, before, change) => {
  expect(signatureOf({ ...before, ...change })).not.toBe(signatureOf(before));
});

it.each<[what: string, before: TreeElement, change: object]>([
  ['got another ref', LINK, { ref: 'e7' }],
  ['was typed into', { role: 'textbox', name: 'Search', text: '' }, { text: 'cats' }],
])('an element that %s has the same signature', (_what, before, change) => {
  expect(signatureOf({ ...before, ...change })).toBe(signatureOf(before));
});
