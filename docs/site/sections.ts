import type { Link, Node } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';
import type { Page } from '../tooling/markdown.js';

/** A link of a table of contents, with what is said about it. */
export interface Entry {
  text: string;
  url: string;
  about: string;
}

/** The links under a heading. */
export interface Section {
  title: string;
  entries: Entry[];
}

/**
 * What a table of contents lists, heading by heading: the first link of each point and of each row
 * of a table, and under the title also those of the text.
 */
export function sectionsOf({ tree }: Page): Section[] {
  const sections: Section[] = [];
  for (const node of tree.children) {
    if (node.type === 'heading') sections.push({ title: textOf(node), entries: [] });
    const entries = sections.at(-1)?.entries;
    if (node.type === 'list' || node.type === 'table') {
      entries?.push(...node.children.flatMap(entryOf));
    }
    if (node.type === 'paragraph' && sections.length === 1) {
      entries?.push(...linksIn(node).map(({ url, text }) => ({ url, text, about: '' })));
    }
  }
  return sections.filter(({ entries }) => entries.length > 0);
}

function entryOf(node: Node): Entry[] {
  const [link] = linksIn(node);
  if (link === undefined) return [];
  const about = textOf(node).slice(link.text.length);
  return [{ ...link, about: about.replace(/^: /, '') }];
}

function linksIn(node: Node): { text: string; url: string }[] {
  const links: { text: string; url: string }[] = [];
  visit(node, 'link', (link: Link) => {
    links.push({ text: textOf(link), url: link.url });
  });
  return links;
}
