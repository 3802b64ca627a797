import { library, page } from '../../tsup.base.ts';

const folder = 'src/inspect/page';

export default [
  // The page is built beside it, at the same time.
  {
    ...library(['src/index.ts', 'src/bin.ts']),
    clean: ['!**/*.d.ts', '!**/*.tsbuildinfo', '!page', '!page/**'],
  },
  page(
    {
      app: `${folder}/app.ts`,
      reach: `${folder}/reach-page.ts`,
      style: `${folder}/style.css`,
      index: `${folder}/index.html`,
      icon: `${folder}/icon.svg`,
    },
    'dist/page',
  ),
];
