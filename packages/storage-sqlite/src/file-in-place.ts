import { statSync } from 'node:fs';
import { EthosError } from '@ethosagent/types';

/**
 * Remembers the files of a database and its log. A connection continues to use the files that it
 * has opened, even if they are removed or replaced. It would then confirm writes that nobody finds
 * again.
 *
 * @param file the path of a database that is open and in WAL mode; not `:memory:`
 * @returns a function that throws `STORE_UNAVAILABLE` if the files are no longer at their paths
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
