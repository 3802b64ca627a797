import { homedir } from 'node:os';
import { join } from 'node:path';
import { denyFloor, runtimeOwnNames } from '@ethosagent/policy';

/**
 * What no tool reaches, whatever its reach: the deny floor, what a runtime keeps in its home, and
 * what the host adds. The rest of a home is denied by the reach of each personality.
 */
export function runtimeDenyPaths(home: string, added: readonly string[] = []): string[] {
  return denyFloor({
    home: homedir(),
    secretsDir: join(home, 'secrets'),
    extra: [...runtimeOwnNames().map((name) => join(home, name)), ...added],
  });
}
