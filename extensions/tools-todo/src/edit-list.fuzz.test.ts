import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { addItems, clearItems, setItems, type TodoCaps, updateItems } from './edit-list.js';
import { formatList, parseList } from './stored-list.js';
import { EMPTY_LIST, isOpen, TODO_STATES, type TodoList } from './todo-list.js';
import type { Edit } from './todo-store.js';

const caps: TodoCaps = { max_items: 6, max_text_chars: 3, max_note_chars: 2 };

const id = fc.integer({ min: 1, max: 12 }).map((number) => `t${number}`);
const state = fc.constantFrom(...TODO_STATES);
const text = fc.stringMatching(/^[ab]{1,4}$/);
const note = fc.stringMatching(/^[ab]{0,3}$/);
const place = fc.oneof(fc.constant({}), fc.record({ before: id }), fc.record({ after: id }));
const fields = fc.record({ text, state, note }, { requiredKeys: ['text'] });
const draft = fc.oneof(fields, fc.record({ id, text, state, note }, { requiredKeys: ['id'] }));
const change = fc
  .tuple(fc.record({ id, text, state, note }, { requiredKeys: ['id'] }), place)
  .map(([one, where]) => ({ ...one, ...where }));

const edits: fc.Arbitrary<(list: TodoList) => Edit> = fc.oneof(
  fc
    .array(draft, { minLength: 1, maxLength: 7 })
    .map((drafts) => (list: TodoList) => setItems(list, drafts, caps)),
  fc.tuple(fc.array(fields, { minLength: 1, maxLength: 3 }), place).map(
    ([drafts, where]) =>
      (list: TodoList) =>
        addItems(list, { drafts, place: where }, caps),
  ),
  fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => (list: TodoList) => updateItems(list, changes, caps)),
  fc.boolean().map((keepOpen) => (list: TodoList) => clearItems(formatList(list), keepOpen)),
);

fuzz(
  'whatever is done to a list, it stays one, within its caps, and no id comes again',
  fc.array(edits, { maxLength: 20 }),
  (steps) => {
    let list = EMPTY_LIST;
    const gone = new Set<string>();
    for (const step of steps) {
      const before = structuredClone(list);
      const edit = step(list);
      expect(list).toEqual(before);
      if (!edit.ok) {
        expect(edit.problem).toMatch(/Nothing was changed\.$/);
        continue;
      }
      const { items, nextId } = edit.list;
      expect(items.length).toBeLessThanOrEqual(caps.max_items);
      expect(items.filter((item) => item.state === 'in_progress').length).toBeLessThan(2);
      for (const item of items) {
        expect(gone.has(item.id)).toBe(false);
        expect(item.text.length).toBeLessThanOrEqual(caps.max_text_chars);
        expect(item.note?.length ?? 1).toBeLessThanOrEqual(caps.max_note_chars);
        expect(item.note).not.toBe('');
      }
      expect(nextId).toBeGreaterThanOrEqual(list.nextId);
      const ids = new Set(items.map((item) => item.id));
      const removed = list.items.flatMap((item) => (ids.has(item.id) ? [] : [item.id]));
      expect(edit.removed).toEqual(removed);
      for (const touched of edit.touched) expect(ids).toContain(touched);
      for (const one of removed) gone.add(one);
      expect(parseList(formatList(edit.list))).toEqual({ ok: true, list: edit.list });
      list = edit.list;
    }
    const closed = clearItems(formatList(list), true);
    expect(closed.ok && closed.list.items).toEqual(list.items.filter(isOpen));
  },
);
