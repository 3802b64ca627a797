/**
 * The absolute path of the ripgrep that comes with this package. When none was installed for this
 * platform, it is the bare name, which is found on the host's `PATH`.
 */
export const bundledRipgrepPath: string = await import('@vscode/ripgrep').then(
  ({ rgPath }) => rgPath,
  () => 'rg',
);
