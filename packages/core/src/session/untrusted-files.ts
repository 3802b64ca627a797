import { dirname, parse } from 'node:path';
import { isWithin, type ReadSource } from '@ethosagent/policy';
import type { SessionLedger } from './session-ledger.js';

/** How many paths are listed one by one. After that, their folders are listed. */
const MANY_PATHS = 1_000;
/** How many paths are listed at all. After that, everything on the disk counts as written. */
const MAX_PATHS = 4_000;

/**
 * The files and folders that calls of all sessions of a store changed when they could use untrusted
 * content. Each is recorded before it is changed. Everything below a folder counts with it.
 */
export class UntrustedFiles {
  readonly #ledger: SessionLedger;

  /**
   * Keeps the paths that calls wrote after reading untrusted content.
   *
   * @param ledger where the paths are kept
   */
  constructor(ledger: SessionLedger) {
    this.#ledger = ledger;
  }

  /**
   * The paths, as all processes know them.
   *
   * @returns absolute paths, each with everything below it
   * @throws as `SessionLedger.refresh`
   */
  async list(): Promise<ReadonlySet<string>> {
    await this.#ledger.refresh();
    return this.#ledger.written;
  }

  /**
   * Whether some of the files and folders that were read are recorded, lie in such a folder, or contain
   * such a file.
   *
   * @param sources what was read. Pages count for nothing
   * @returns whether what was read may come from such a change
   * @throws as `SessionLedger.refresh`
   */
  async areWritten(sources: readonly ReadSource[]): Promise<boolean> {
    const files = sources.filter((source) => source.kind === 'file');
    if (files.length === 0) return false;
    await this.#ledger.refresh();
    return files.some((file) => this.#ledger.writtenPlaces.isWritten(file));
  }

  /**
   * Records paths that are about to be changed.
   * @param paths absolute and normalised
   * @throws as `SessionLedger.append`; then the paths must not be changed
   */
  async note(paths: readonly string[]): Promise<void> {
    // Another process may have cleared what was known here.
    await this.#ledger.refresh();
    await this.#ledger.append(() => {
      const { written, writtenPlaces } = this.#ledger;
      const places = paths.map((path) => placeOf(path, written.size));
      const added = [...new Set(places)].filter((place) => !writtenPlaces.holds(place));
      return added.length === 0 ? [] : [{ kind: 'written', paths: added }];
    });
  }

  /**
   * Removes paths, and everything below them, after an operator has checked them.
   *
   * @param paths absolute paths
   * @returns the paths that were removed
   * @throws as `SessionLedger.append`
   */
  async clear(paths: readonly string[]): Promise<string[]> {
    let cleared: string[] = [];
    await this.#ledger.refresh();
    await this.#ledger.append(() => {
      cleared = [...this.#ledger.written].filter((place) =>
        paths.some((path) => isWithin(place, path)),
      );
      return cleared.length === 0 ? [] : [{ kind: 'cleared', paths: cleared }];
    });
    return cleared;
  }
}

function placeOf(path: string, known: number): string {
  if (known >= MAX_PATHS) return parse(path).root;
  return known >= MANY_PATHS ? dirname(path) : path;
}
