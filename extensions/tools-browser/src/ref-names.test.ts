import { expect, it } from 'vitest';
import { REF_FORM, RefNames } from './ref-names.js';

it('RefNames gives short refs, and none twice, however many documents there are', () => {
  const names = new RefNames();
  const given = new Set<string>();
  for (let document = 0; document < 2_000; document += 1) {
    const next = names.ofDocument();
    for (let element = 0; element < 5; element += 1) given.add(next());
  }
  expect(given.size).toBe(10_000);
  expect([...given].filter((ref) => !REF_FORM.test(ref) || ref.length > 5)).toEqual([]);
});
