// The variables that a program needs to run as its user expects. None of them grants anything.
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL', 'TZ'];

/**
 * Builds the environment of child processes: common variables such as `PATH` and `LC_*`, and those
 * that the operator names. It contains no credentials of the host unless the operator names them.
 *
 * @param host the environment of the host, by name
 * @param added the names of further variables
 * @returns the variables, by name
 */
export function baseEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  added: readonly string[] = [],
): Record<string, string> {
  const names = new Set([...PASSED_ON, ...added]);
  const base: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (names.has(name) || name.startsWith('LC_'))) base[name] = value;
  }
  return base;
}
