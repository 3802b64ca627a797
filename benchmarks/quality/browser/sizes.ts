import type { Driver } from './driver.js';
import { PAGES } from './pages.js';
import type { Site } from './site.js';

/** The tokens of a snapshot of each page, and where the first driver's is the larger one. */
export async function snapshotSizes(
  drivers: readonly Driver[],
  site: Site,
  tokensOf: (text: string) => number,
): Promise<string[]> {
  const sizes: Array<{ path: string; tokens: number[] }> = [];
  for (const path of Object.keys(PAGES)) {
    const tokens: number[] = [];
    for (const driver of drivers) {
      await driver.open(`${site.origin}${path}`);
      tokens.push(tokensOf(await driver.page()));
    }
    sizes.push({ path, tokens });
  }
  const sum = (at: number) => sizes.reduce((total, { tokens }) => total + (tokens[at] ?? 0), 0);
  const larger = sizes.filter(({ tokens: [one = 0, other = 0] }) => one > other);
  return [
    `Snapshots of ${sizes.length} pages: ${sum(0)} tokens beside ${sum(1)}; larger on ${larger.length}.`,
    ...larger.map(({ path, tokens }) => `  larger: ${path}: ${tokens.join(' beside ')}`),
  ];
}
