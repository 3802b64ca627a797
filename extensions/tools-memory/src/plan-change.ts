import type { MemoryChange, MemoryDocument, MemorySection } from '@ethosagent/types';
import { findSection, nameOf, noSuchSection } from './headings.js';
import { countOf, gist } from './render-memory.js';

/** The effect of a change on a memory, or why the change can't be made. */
export type ChangePlan =
  | {
      ok: true;
      change: MemoryChange;
      heading: string;
      /** The text of the section before the change; `undefined` when there is no such section. */
      before: string | undefined;
      after: string | undefined;
      /** The approximate number of characters in the whole memory after the change. */
      sizeChars: number;
    }
  | { ok: false; error: string };

interface Place {
  section: MemorySection;
  at: number;
}

const MAX_PLACES = 10;

/** Finds the place of a change in the memory. It writes nothing. */
export function planChange(document: MemoryDocument, change: MemoryChange): ChangePlan {
  return change.kind === 'add' ? planAdd(document, change) : planEdit(document, change);
}

function planAdd(
  { sections, sizeChars }: MemoryDocument,
  change: Extract<MemoryChange, { kind: 'add' }>,
): ChangePlan {
  const there = findSection(sections, change.section);
  const heading = there?.heading ?? change.section;
  const after = !there?.text ? change.text : `${there.text.trimEnd()}\n\n${change.text}`;
  const grown = after.length - (there?.text.length ?? 0) + (there ? 0 : heading.length);
  return { ok: true, change, heading, before: there?.text, after, sizeChars: sizeChars + grown };
}

function planEdit(
  { sections, sizeChars }: MemoryDocument,
  change: Exclude<MemoryChange, { kind: 'add' }>,
): ChangePlan {
  const { section: named, match } = change;
  const section = named === undefined ? undefined : findSection(sections, named);
  if (named !== undefined && section === undefined) {
    return { ok: false, error: noSuchSection(sections, named) };
  }
  if (match === undefined) {
    if (section === undefined) return { ok: false, error: 'Name a section or a match.' };
    const { heading, text: before } = section;
    const after = change.kind === 'replace' ? change.text : undefined;
    const size = sizeChars - before.length + (after?.length ?? -heading.length);
    return {
      ok: true,
      change: { ...change, section: heading },
      heading,
      before,
      after,
      sizeChars: size,
    };
  }
  const places = (section === undefined ? sections : [section]).flatMap((each) =>
    placesIn(each, match),
  );
  const [place, ...others] = places;
  if (place === undefined) return { ok: false, error: notThere(sections, section, match) };
  if (others.length > 0) return { ok: false, error: inManyPlaces(places) };
  const { heading, text: before } = place.section;
  const inserted = change.kind === 'replace' ? change.text : '';
  const after = before.slice(0, place.at) + inserted + before.slice(place.at + match.length);
  return {
    ok: true,
    // With section and match, so that the provider changes exactly the place that was screened here.
    change: { ...change, section: heading },
    heading,
    before,
    after,
    sizeChars: sizeChars - match.length + inserted.length,
  };
}

function placesIn(section: MemorySection, match: string): Place[] {
  const places: Place[] = [];
  const { text } = section;
  for (let at = text.indexOf(match); at >= 0; at = text.indexOf(match, at + 1)) {
    places.push({ section, at });
    // So many places are ambiguous already; the rest is not counted.
    if (places.length > MAX_PLACES * 100) break;
  }
  return places;
}

function notThere(
  sections: readonly MemorySection[],
  section: MemorySection | undefined,
  match: string,
): string {
  const searched = section === undefined ? 'The memory' : `Section ${quote(section.heading)}`;
  const elsewhere =
    section === undefined
      ? []
      : sections.filter(({ text }) => text.includes(match)).map(({ heading }) => quote(heading));
  if (elsewhere.length > 0) {
    return `${searched} has no such text, but ${elsewhere.slice(0, MAX_PLACES).join(', ')} has.`;
  }
  const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
  const near = sections.find(({ text }) => plain(text).includes(plain(match)));
  const hint =
    near === undefined
      ? 'Read the memory, and copy the text from there.'
      : `Section ${quote(near.heading)} has it with other white space or case; copy it exactly.`;
  return `${searched} has no text ${JSON.stringify(gist(match))}. ${hint}`;
}

function inManyPlaces(places: readonly Place[]): string {
  const onLine = new Map<string, number>();
  for (const { section, at } of places.slice(0, MAX_PLACES)) {
    const line = `${quote(section.heading)} line ${section.text.slice(0, at).split('\n').length}`;
    onLine.set(line, (onLine.get(line) ?? 0) + 1);
  }
  const shown = [...onLine].map(([line, count]) => (count > 1 ? `${line} (${count} times)` : line));
  const more = places.length - MAX_PLACES;
  return `The text is in ${countOf(places.length, 'place')}: ${shown.join(', ')}${more > 0 ? ' and more' : ''}. Match more of it so that it is in one, or name the section.`;
}

function quote(heading: string): string {
  return JSON.stringify(nameOf(gist(heading)));
}
