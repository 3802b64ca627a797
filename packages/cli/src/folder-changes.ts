import { type FSWatcher, watch } from 'node:fs';

/**
 * A look is made after this many milliseconds even without a notification: some network file
 * systems send none.
 */
const AT_LEAST_MS = 1_000;

/**
 * Yields each time that something in a folder may have changed, until the signal fires. Several
 * changes while one is handled give a single value.
 *
 * @param folder may not exist yet
 */
export async function* folderChanges(folder: string, signal?: AbortSignal): AsyncGenerator<void> {
  let wake = () => {};
  let isChanged = true;
  let watcher: FSWatcher | undefined;
  const change = () => {
    isChanged = true;
    wake();
  };
  const end = () => wake();
  const stop = () => {
    watcher?.close();
    watcher = undefined;
  };
  const timer = setInterval(change, AT_LEAST_MS);
  signal?.addEventListener('abort', end);
  try {
    while (signal?.aborted !== true) {
      watcher ??= watchFolder(folder, { change, stop });
      if (isChanged) {
        isChanged = false;
        yield;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', end);
    stop();
  }
}

function watchFolder(
  folder: string,
  { change, stop }: { change: () => void; stop: () => void },
): FSWatcher | undefined {
  try {
    return watch(folder, change).on('error', stop);
  } catch {
    return undefined;
  }
}
