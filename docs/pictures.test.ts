import { readdirSync, readFileSync } from 'node:fs';
import { instance } from '@viz-js/viz';
import { expect, it } from 'vitest';

const folder = new URL('./images/', import.meta.url);
const sources = readdirSync(folder).filter((file) => file.endsWith('.dot'));

it.each(sources)('the picture of %s is what the source says; -u draws it anew', async (file) => {
  const viz = await instance();
  const svg = viz.renderString(readFileSync(new URL(file, folder), 'utf8'), { format: 'svg' });
  await expect(svg).toMatchFileSnapshot(`./images/${file.replace(/\.dot$/, '.svg')}`);
});
