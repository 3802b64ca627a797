import validate from 'validate-npm-package-name';

// The library checks for special characters only behind the scope.
const SCOPE = /^@[a-z0-9][a-z0-9._-]*$/;

/**
 * Returns what is wrong with the name of a project, which is also the name of its package;
 * `undefined` if nothing is wrong.
 */
export function problemOfName(name: string): string | undefined {
  const [scope = '', ...rest] = name.split('/');
  if (rest.length > 0 && !SCOPE.test(scope)) {
    return 'the name before "/" must be a scope such as @acme';
  }
  const { errors = [], warnings = [] } = validate(name);
  const [problem] = [...errors, ...warnings];
  return problem;
}

/** Returns the folder of a package: `tool` for `@acme/tool`. */
export function folderOf(name: string): string {
  return name.replace(/^@[^/]*\//, '');
}
