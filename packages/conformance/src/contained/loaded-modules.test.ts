import { moduleGraph } from '@ethosagent/test-support';
import { expect, it } from 'vitest';

it('assertContained loads no test runner, and nothing that its user would have to install', async () => {
  const entry = new URL('./index.ts', import.meta.url);
  const packages = (await moduleGraph(entry))(entry)
    .filter((name) => !/^node:|\.ts$/.test(name))
    .filter((name) => !/^@ethosagent\/(core|policy|storage-fs|types)(\/|$)/.test(name));
  // The package of the tests is bundled. Its main module loads fast-check.
  expect(packages).toEqual([
    '@ethosagent/test-support/tries',
    'pure-rand/distribution/uniformInt',
    'pure-rand/generator/xoroshiro128plus',
  ]);
});
