import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian installs the programs of each version. They are not on the `PATH`. */
const DEBIAN = '/usr/lib/postgresql';

/**
 * A program of the newest PostgreSQL on this machine: its path, or its name if it is on the `PATH`.
 */
export function postgresProgram(name: 'postgres' | 'initdb' | 'createdb'): string {
  if (!existsSync(DEBIAN)) return name;
  const versions = readdirSync(DEBIAN)
    .map(Number)
    .filter((version) => existsSync(join(DEBIAN, `${version}`, 'bin', name)));
  return versions.length === 0 ? name : join(DEBIAN, `${Math.max(...versions)}`, 'bin', name);
}
