import { visit } from 'unist-util-visit';
import type { Page } from './markdown.js';

/** A link or a picture of a page that leads into the repository. */
export interface RelativeLink {
  url: string;
  line: number | undefined;
}

export function relativeLinks({ tree }: Page): RelativeLink[] {
  const links: RelativeLink[] = [];
  visit(tree, (node) => {
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return;
    const { url } = node;
    if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) links.push({ url, line: node.position?.start.line });
  });
  return links;
}
