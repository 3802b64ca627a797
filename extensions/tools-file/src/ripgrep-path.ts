import { createRequire } from 'node:module';

/**
 * The absolute path of the ripgrep that comes with this package. When none was installed for this
 * platform, it is the bare name, which is found on the host's `PATH`.
 */
export const bundledRipgrepPath = ripgrepPath();

/**
 * `@vscode/ripgrep` throws where it has no binary. To import it and go on would take an `await` at
 * the top level, and a CommonJS program can't load a package that has one.
 */
function ripgrepPath(): string {
  try {
    const load = createRequire(import.meta.url);
    const ripgrep: typeof import('@vscode/ripgrep') = load('@vscode/ripgrep');
    return ripgrep.rgPath;
  } catch {
    return 'rg';
  }
}
