import { library, page, startOf } from '../../tsup.base.ts';

const folder = 'src/inspect/page';

export default [
  // The page and the start are built beside it, at the same time.
  {
    ...library([
      'src/index.ts',
      'src/run-command-line.ts',
      'src/run-program.ts',
      'src/commands/*.ts',
    ]),
    clean: ['!**/*.d.ts', '!**/*.tsbuildinfo', '!page', '!page/**', '!bin.cjs', '!bin.cjs.map'],
  },
  startOf('src/bin.ts'),
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
