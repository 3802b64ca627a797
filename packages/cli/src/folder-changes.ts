import { type FSWatcher, watch } from 'node:fs';

/** Milliseconds after which a change counts that nobody was told of, as on some network file systems. */
const AT_LEAST_MS = 1_000;

/**
 * One value each time that something in a folder may have changed, until the signal fires. Changes
 * that come while one is worked on are one.
 *
 * @param folder it need not be there yet
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
