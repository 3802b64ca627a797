import type { PageCall } from './call-browser.js';

/** Pixels of a page that a picture has at most, each way. */
export const MAX_HEIGHT = 5_000;

/** The page from its top, as high as a picture may be. */
export async function wholePage(
  { deadline, page }: PageCall,
  viewport: { width: number; height: number },
) {
  const height = await deadline.race(page.evaluate('document.documentElement.scrollHeight'));
  const isNumber = typeof height === 'number' && height > 0;
  const shown = isNumber ? Math.min(height, MAX_HEIGHT) : viewport.height;
  return { x: 0, y: 0, width: viewport.width, height: Math.ceil(shown) };
}
