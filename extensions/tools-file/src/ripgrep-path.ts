/**
 * The ripgrep that comes with this package; the bare name, to be found on the host's `PATH`, on a
 * platform for which none was installed.
 */
export const bundledRipgrepPath: string = await import('@vscode/ripgrep').then(
  ({ rgPath }) => rgPath,
  () => 'rg',
);
