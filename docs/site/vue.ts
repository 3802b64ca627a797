import { createRequire } from 'node:module';
import type { Plugin } from 'vitepress';

const VITEPRESS = createRequire(import.meta.url).resolve('vitepress');

/** Pages in any folder find Vue, which only VitePress depends on. */
export function vueForEveryPage(): Plugin {
  return {
    name: 'vue-for-every-page',
    enforce: 'pre',
    resolveId(id, importer) {
      const isOfPage = importer?.endsWith('.md') && /^vue($|\/)/.test(id);
      return isOfPage ? this.resolve(id, VITEPRESS, { skipSelf: true }) : undefined;
    },
  };
}
