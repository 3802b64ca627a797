import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian keeps the programs of each version; they are on no `PATH` there. */
const DEBIAN = '/usr/lib/postgresql';

/** A program of the newest PostgreSQL of this machine: a path, or a name for the `PATH`. */
export function postgresProgram(name: 'postgres' | 'initdb' | 'createdb'): string {
  if (!existsSync(DEBIAN)) return name;
  const versions = readdirSync(DEBIAN)
    .map(Number)
    .filter((version) => existsSync(join(DEBIAN, `${version}`, 'bin', name)));
  return versions.length === 0 ? name : join(DEBIAN, `${Math.max(...versions)}`, 'bin', name);
}
