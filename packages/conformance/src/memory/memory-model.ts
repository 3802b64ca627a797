import type { MemoryChange, MemorySection } from '@ethosagent/types';

/**
 * Returns the memory after a change of plain texts, or the code of the refusal. It is a short model
 * of the contract.
 */
export function modelOfChange(
  sections: readonly MemorySection[],
  change: MemoryChange,
): MemorySection[] | string {
  const same = (heading: string | undefined) => (section: MemorySection) =>
    section.heading.toLowerCase() === heading?.trim().toLowerCase();
  if (change.kind === 'add') {
    const text = kept(change.text);
    const known = sections.find(same(change.section));
    const heading = change.section.trim();
    const added = { heading, text };
    if (known === undefined) {
      if (heading !== '') return [...sections, added];
      return text === '' ? [...sections] : [added, ...sections];
    }
    return withText(sections, known, [known.text, text].filter(Boolean).join('\n\n'));
  }
  const { section, match } = change;
  const text = change.kind === 'replace' ? kept(change.text) : '';
  if (section === undefined && match === undefined) return 'VALUE_INVALID';
  if (match === '') return 'VALUE_INVALID';
  if (section !== undefined && !sections.some(same(section))) return 'MEMORY_NOT_FOUND';
  const among = section === undefined ? sections : sections.filter(same(section));
  if (match !== undefined) {
    const places = among.flatMap((each) =>
      each.text
        .split('')
        .flatMap((_, at) => (each.text.startsWith(match, at) ? [{ each, at }] : [])),
    );
    const [place] = places;
    if (place === undefined) return 'MEMORY_NOT_FOUND';
    if (places.length > 1) return 'MEMORY_AMBIGUOUS';
    const { each, at } = place;
    return withText(
      sections,
      each,
      kept(each.text.slice(0, at) + text + each.text.slice(at + match.length)),
    );
  }
  if (change.kind === 'remove') return sections.filter((each) => !among.includes(each));
  return among.reduce<MemorySection[]>((all, each) => withText(all, each, text), [...sections]);
}

function withText(
  sections: readonly MemorySection[],
  section: MemorySection,
  text: string,
): MemorySection[] {
  return sections
    .map((each) => (each === section ? { ...each, text } : each))
    .filter((each) => each.heading !== '' || each.text !== '');
}

/** Returns a text without blank lines around it. */
function kept(text: string): string {
  return text.trim() === '' ? '' : text.replace(/^(?: *\n)+/, '').trimEnd();
}
