interface Entry {
  /** What it counts as. */
  bytes: number;
  /** What it was when the first of the writes under way began. */
  before: number;
  /** Of the writes under way together, and how many of them are not settled. */
  unsettled: number;
  /** The largest of those that succeeded. */
  written: number | undefined;
}

/** Says how a write went. */
export type Settle = (wasWritten: boolean) => void;

/**
 * The bytes of the entries that were written and are still there. Which of several writes at once
 * came last is for the store to know: an entry counts as the largest that they can have left.
 */
export class StoreMeter {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** By how much a write of this size would raise `bytes`. */
  growth(id: string, bytes: number): number {
    return Math.max(0, bytes - (this.#entries.get(id)?.bytes ?? 0));
  }

  /** Counts a write until it is settled, and then what came of it; 0 bytes for a removal. */
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
