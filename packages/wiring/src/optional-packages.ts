/** The packages that a program installs if it uses them. */
export interface OptionalPackages {
  '@ethosagent/tools-file': typeof import('@ethosagent/tools-file');
  '@ethosagent/tools-terminal': typeof import('@ethosagent/tools-terminal');
  '@ethosagent/tools-code': typeof import('@ethosagent/tools-code');
  '@ethosagent/tools-web': typeof import('@ethosagent/tools-web');
  '@ethosagent/tools-memory': typeof import('@ethosagent/tools-memory');
  '@ethosagent/tools-todo': typeof import('@ethosagent/tools-todo');
  '@ethosagent/tools-delegation': typeof import('@ethosagent/tools-delegation');
  '@ethosagent/tools-browser': typeof import('@ethosagent/tools-browser');
  '@ethosagent/tools-mcp': typeof import('@ethosagent/tools-mcp');
  '@ethosagent/image-scaler': typeof import('@ethosagent/image-scaler');
  '@ethosagent/storage-postgres': typeof import('@ethosagent/storage-postgres');
  '@ethosagent/storage-redis': typeof import('@ethosagent/storage-redis');
}

/**
 * Imports a package that may be missing. The name is a variable, so that no bundler follows it: a
 * bundle is made without the packages that are missing, and holds only what its program imports.
 *
 * @param name the package
 * @returns what it exports
 * @throws an error with the code `ERR_MODULE_NOT_FOUND` if it is not installed, nor beside a bundle
 */
export function importOptional<Name extends keyof OptionalPackages>(
  name: Name,
): Promise<OptionalPackages[Name]> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ name);
}
