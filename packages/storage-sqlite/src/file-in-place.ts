import { statSync } from 'node:fs';
import { EthosError } from '@ethosagent/types';

/**
 * Remembers which files stand at a database's path and at its log's. A connection goes on with the
 * files that it has opened, whatever became of their names: what it would acknowledge then, nobody
 * would find again.
 *
 * @param file of a database that is open and in WAL mode; not `:memory:`
 * @returns throws `STORE_UNAVAILABLE` while other files, or none, stand there
 */
export function rememberFiles(file: string): () => void {
  const paths = [file, `${file}-wal`];
  const known = paths.map(identityOf);
  return () => {
    if (paths.every((path, index) => identityOf(path) === known[index])) return;
    throw new EthosError(
      'STORE_UNAVAILABLE',
      'the file of the store was moved, replaced or removed; put it back, or close the store and open it again',
    );
  };
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}
