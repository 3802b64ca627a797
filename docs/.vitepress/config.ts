import { defineConfig } from 'vitepress';
import { menu } from '../site/contents.js';
import { writeForModels } from '../site/for-models.js';
import { markdown } from '../site/markdown.js';
import { NOT_ON_SITE, rewrite } from '../site/pages.js';
import { vueForEveryPage } from '../site/vue.js';

const groups = menu();
// That of the page that is read opens too.
const OPEN = 2;

export default defineConfig({
  title: 'ethosagent',
  description: groups[0]?.items[0]?.about ?? '',
  lang: 'en',
  srcDir: '..',
  srcExclude: NOT_ON_SITE,
  rewrites: rewrite,
  markdown,
  vite: {
    plugins: [vueForEveryPage()],
  },
  themeConfig: {
    search: {
      provider: 'local',
      // The button is named by what it shows.
      options: { translations: { button: { buttonAriaLabel: '' } } },
    },
    outline: [2, 3],
    sidebar: groups.map(({ title, items }, index) => ({
      text: title,
      items,
      collapsed: index >= OPEN,
    })),
    nav: groups.flatMap(({ title, items: [first] }) =>
      first === undefined ? [] : [{ text: title, link: first.link }],
    ),
  },
  buildEnd({ outDir, pages }) {
    writeForModels(
      outDir,
      pages.filter((path) => !path.startsWith('docs/source/')),
      groups,
    );
  },
});
