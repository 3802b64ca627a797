// What a program needs to run as its user expects, and nothing that opens a door.
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL', 'TZ'];

/**
 * The environment of child processes: the variables above, `LC_*`, and those that the operator
 * adds by name. Credentials of the host stay behind.
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
