import { visit } from 'unist-util-visit';
import type { Page } from './markdown.js';
import { tablesOf } from './tables.js';

/** What a page describes: names that stand as code in a heading, or first in a row of a table. */
export function namesOn(page: Page): Set<string> {
  const code = tablesOf(page).flatMap(({ rows }) => rows.flatMap(([first]) => first?.code ?? []));
  visit(page.tree, 'heading', (heading) => {
    visit(heading, 'inlineCode', ({ value }) => {
      code.push(value);
    });
  });
  return new Set(code.flatMap((text) => /^[\w$]+/.exec(text) ?? []));
}
