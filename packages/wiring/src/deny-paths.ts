import { homedir } from 'node:os';
import { join } from 'node:path';
import { denyFloor, runtimeOwnNames } from '@ethosagent/policy';

/**
 * The paths that no tool reaches, whatever its reach is: the deny floor, what a runtime keeps in
 * its home, and what the host adds. The reach of each personality excludes the rest of the home.
 */
export function runtimeDenyPaths(home: string, added: readonly string[] = []): string[] {
  return denyFloor({
    home: homedir(),
    secretsDir: join(home, 'secrets'),
    extra: [...runtimeOwnNames().map((name) => join(home, name)), ...added],
  });
}
