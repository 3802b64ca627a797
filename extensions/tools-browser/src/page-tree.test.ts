import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filledFields, parseTree, renderTree } from './page-tree.js';

const refOf = (ref: string) => `kq${ref.replace(/\D/g, '')}`;
const NOTHING_SECRET = { refOf, secretRefs: new Set<string>() };

describe('renderTree', () => {
  it('writes roles, names, states, texts and refs, and hides what is secret', () => {
    const { tree } = parseTree([
      {
        role: 'form',
        ref: 'e1',
        children: [
          'a "quoted" text',
          { role: 'checkbox', name: 'yes', checked: true, ref: 'e2' },
          { role: 'textbox', name: 'code', ref: 'e3', text: 'open sesame' },
          { role: 'link', name: 'go', url: '/x', cursor: 'pointer', ref: 'f1e4' },
        ],
      },
    ]);
    expect(filledFields(tree)).toEqual(['e3']);
    const { lines, known, isPartial } = renderTree(tree, {
      refOf,
      secretRefs: new Set(['e3']),
    });
    expect(lines).toEqual([
      '- form kq1',
      ' - text: "a \\"quoted\\" text"',
      ' - checkbox "yes" kq2 [checked]',
      ' - textbox "code" kq3: (hidden)',
      ' - link "go" kq14 [url="/x"]',
    ]);
    expect(known.get('kq14')).toMatchObject({ role: 'link', name: 'go', ref: 'f1e4' });
    expect(isPartial).toBe(false);
  });

  it('shows a tree that is too deep or too wide in part, and says so', () => {
    let deep: object = { role: 'end' };
    for (let depth = 0; depth < 5_000; depth += 1) deep = { role: 'generic', children: [deep] };
    expect(parseTree([deep]).isPartial).toBe(true);
    const wide = parseTree(Array.from({ length: 60_000 }, () => ({ role: 'listitem' })));
    const rendered = renderTree(wide.tree, NOTHING_SECRET);
    expect(rendered.lines).toHaveLength(50_000);
    expect(rendered.isPartial).toBe(true);
  });

  fuzz('takes any JSON, and gives each element one line', fc.jsonValue(), (json) => {
    const { lines } = renderTree(parseTree(json).tree, NOTHING_SECRET);
    for (const line of lines) expect(line).toMatch(/^ *- [^\n]*$/);
  });

  fuzz('keeps a text of the page inside its quotes', fc.string(), (name) => {
    const { lines } = renderTree([{ role: 'button', name: `x${name}`, ref: 'e1' }], NOTHING_SECRET);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.replace(/"(?:[^"\\]|\\.)*"/, '')).toBe('- button  kq1');
  });
});
