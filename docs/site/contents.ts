import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toString as textOf } from 'mdast-util-to-string';
import { REPOSITORY, readPage } from '../tooling/markdown.js';
import { linkOnSite } from './addresses.js';
import { sectionsOf } from './sections.js';

const CONTENTS = 'docs/README.md';
const FIRST = 'Begin';

/** A page in the menu. */
export interface MenuItem {
  text: string;
  /** The address of the page, from the root of the site. */
  link: string;
  about: string;
}

export interface MenuGroup {
  title: string;
  items: MenuItem[];
}

/** The menu of the site: what `docs/README.md` lists, the packages, and the pages of the project. */
export function menu(): MenuGroup[] {
  const [begin, ...listed] = sectionsOf(readPage(join(REPOSITORY, CONTENTS))).map(
    ({ title, entries }) => ({
      title,
      items: entries.map(({ text, url, about }) => ({
        text: isPackage(text) ? text : capitalised(text),
        link: linkOnSite(CONTENTS, url),
        about,
      })),
    }),
  );
  const front = ['README.md', CONTENTS, 'examples/README.md'].map(item);
  return [
    { title: FIRST, items: [...front, ...(begin?.items ?? [])] },
    ...listed,
    { title: 'Packages', items: [...readmesIn('packages'), ...readmesIn('extensions')] },
    { title: 'Project', items: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].map(item) },
  ];
}

function readmesIn(group: string): MenuItem[] {
  return readdirSync(join(REPOSITORY, group))
    .map((name) => `${group}/${name}/README.md`)
    .filter((path) => existsSync(join(REPOSITORY, path)) && !path.includes('/test-support/'))
    .map(item);
}

/** A page under its title, with its first sentence. */
function item(path: string): MenuItem {
  const { children } = readPage(join(REPOSITORY, path)).tree;
  const heading = children.find(({ type }) => type === 'heading');
  const first = children.find(({ type }) => type === 'paragraph');
  return {
    text: textOf(heading),
    link: linkOnSite('', path),
    about: textOf(first).replaceAll('\n', ' '),
  };
}

/** The name of a package is written as it is imported. */
function isPackage(name: string): boolean {
  return ['packages', 'extensions'].some((group) => existsSync(join(REPOSITORY, group, name)));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
