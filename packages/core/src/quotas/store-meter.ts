interface Entry {
  /** How many bytes the entry counts as now. */
  bytes: number;
  /** How many bytes it counted as before the first of the running writes. */
  before: number;
  /** How many of the running writes are not settled. */
  unsettled: number;
  /** The largest of the running writes that succeeded. */
  written: number | undefined;
}

/** Reports whether a write succeeded. */
export type Settle = (wasWritten: boolean) => void;

/**
 * Counts the bytes of the entries that were written and are still there. Only the store knows which
 * of several concurrent writes came last. So an entry counts as the largest of them.
 */
export class StoreMeter {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** By how many bytes a write of this size would raise `bytes`. */
  growth(id: string, bytes: number): number {
    return Math.max(0, bytes - (this.#entries.get(id)?.bytes ?? 0));
  }

  /** Counts a write until it is settled, and its outcome afterwards; 0 bytes for a removal. */
  begin(id: string, bytes: number): Settle {
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = { bytes: 0, before: 0, unsettled: 0, written: undefined };
      this.#entries.set(id, entry);
    }
    if (entry.unsettled === 0) entry.before = entry.bytes;
    entry.unsettled++;
    this.#count(entry, Math.max(entry.bytes, bytes));
    let isSettled = false;
    return (wasWritten) => {
      if (isSettled) return;
      isSettled = true;
      if (wasWritten) entry.written = Math.max(entry.written ?? 0, bytes);
      entry.unsettled--;
      if (entry.unsettled > 0) return;
      this.#count(entry, entry.written ?? entry.before);
      entry.written = undefined;
      if (entry.bytes === 0) this.#entries.delete(id);
    };
  }

  #count(entry: Entry, bytes: number): void {
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }
}
