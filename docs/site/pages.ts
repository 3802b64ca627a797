/** What the site has no page for: notes inside of packages, and tools of this repository alone. */
export const NOT_ON_SITE = [
  'benchmarks/**',
  'packages/test-support/**',
  'packages/*/src/**',
  'packages/*/templates/**',
  'extensions/*/src/**',
  'examples/*/**',
];

/** The `README.md` of a folder is its first page. */
export function rewrite(path: string): string {
  return path.replace(/(^|\/)README\.md$/, '$1index.md');
}
