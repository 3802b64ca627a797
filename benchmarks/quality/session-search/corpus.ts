import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A section of a package's README, as a message would hold it. */
export interface Passage {
  /** The name of the package. */
  document: string;
  text: string;
}

const MAX_PASSAGE_CHARS = 4_000;
const MIN_PASSAGE_CHARS = 80;
const MAX_README_CHARS = 60_000;

/**
 * The READMEs of the installed packages, one a name, in passages: a section each, cut at a blank
 * line where it is long.
 *
 * @param names of the packages that are wanted; all when absent
 */
export function readPassages(root: string, names?: ReadonlySet<string>): Passage[] {
  const store = join(root, 'node_modules/.pnpm');
  const readmes = new Map<string, string>();
  for (const folder of readdirSync(store).sort()) {
    // `a@1.0.0_peer@2` and `@scope+a@1.0.0` name what they hold.
    const [, scope = '', name] = /^(@[^+]+\+)?([^@]+)@/.exec(folder) ?? [];
    if (name === undefined) continue;
    const document = scope.replace('+', '/') + name;
    if (names !== undefined && !names.has(document)) continue;
    const readme = readmeIn(join(store, folder, 'node_modules', document));
    if (readme !== undefined) readmes.set(document, readme);
  }
  return [...readmes].flatMap(([document, markdown]) =>
    passagesOf(markdown).map((text) => ({ document, text })),
  );
}

function readmeIn(folder: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
  const name = readdirSync(folder).find((file) => /^readme\.(?:md|markdown)$/i.test(file));
  if (name === undefined) return undefined;
  const text = readFileSync(join(folder, name), 'utf8');
  return text.length <= MAX_README_CHARS ? text : undefined;
}

/** The sections of a README, each with its heading. */
export function passagesOf(markdown: string): string[] {
  const sections: string[] = [];
  let section: string[] = [];
  let isCode = false;
  for (const line of markdown.replaceAll('\r\n', '\n').split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    if (!isCode && /^#{1,4} /.test(line)) {
      sections.push(section.join('\n'));
      section = [];
    }
    section.push(line);
  }
  sections.push(section.join('\n'));
  return sections.flatMap(partsOf).filter((text) => text.length >= MIN_PASSAGE_CHARS);
}

function partsOf(section: string): string[] {
  const parts: string[] = [];
  let rest = section.trim();
  while (rest.length > MAX_PASSAGE_CHARS) {
    const blank = rest.lastIndexOf('\n\n', MAX_PASSAGE_CHARS);
    const end = blank > 0 ? blank : MAX_PASSAGE_CHARS;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return [...parts, rest];
}
