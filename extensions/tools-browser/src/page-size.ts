import type { PageCall } from './call-browser.js';

/** How many pixels of a page a picture shows at most, in each direction. */
export const MAX_HEIGHT = 5_000;

/** Returns the area of the page from its top, as high as a picture may be. */
export async function wholePage(
  { deadline, page }: PageCall,
  viewport: { width: number; height: number },
) {
  const height = await deadline.race(page.evaluate('document.documentElement.scrollHeight'));
  const isNumber = typeof height === 'number' && height > 0;
  const shown = isNumber ? Math.min(height, MAX_HEIGHT) : viewport.height;
  return { x: 0, y: 0, width: viewport.width, height: Math.ceil(shown) };
}
