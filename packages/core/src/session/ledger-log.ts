import { canonicalJson, isSameOwner } from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type SessionMessage,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import { dataOf, type LedgerRecord, parseRecord, plainRecords } from './ledger-records.js';

/** How often a write is tried while other processes write too. */
const MAX_ATTEMPTS = 20;
/** Far below the limit of any store for a page. */
const FULL_PAGE_CHARS = 1_000_000;

/** What a ledger does with its records. */
export interface LedgerReader {
  /** Called for each record once, in the order of the records. */
  apply(record: LedgerRecord): void;
  /** Called when the records were deleted, here or by another process. */
  startOver(): void;
}

/**
 * The records of a ledger, in the order in which all processes wrote them. A record is written only
 * after the records of others have been read. Without a store, nothing is kept.
 */
export class LedgerLog {
  readonly #store: SessionStore | undefined;
  readonly #ref: SessionRef;
  readonly #ledger: LedgerReader;
  #sequence = 0;
  /**
   * The last record that was seen in the store; the first that was written if none was. If it is not
   * there any more, the ledger was deleted. The ones written after it don't show that: a store
   * accepts them by their number, and a new ledger may have as many records as the old one had.
   */
  #anchor: SessionMessage | undefined;

  constructor(store: SessionStore | undefined, ref: SessionRef, ledger: LedgerReader) {
    this.#store = store;
    this.#ref = ref;
    this.#ledger = ledger;
  }

  /**
   * Writes the records that `next` returns for the present state, if any.
   *
   * @param next called again if others wrote meanwhile; what it throws is thrown
   * @param written called once, when the records are stored and applied
   * @throws `SESSION_CHANGED` if others never stop writing; as `read`
   */
  async append(next: () => readonly LedgerRecord[], written = () => {}): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      // The records as they will be read back.
      const records = plainRecords(next());
      if (records.length === 0) return;
      if (this.#store === undefined) {
        for (const record of records) this.#ledger.apply(record);
        written();
        return;
      }
      try {
        const stored = await this.#store.append(
          this.#ref,
          records.map((record) => ({ role: 'system', text: '', data: dataOf(record) })),
          { afterSequence: this.#sequence },
        );
        for (const record of records) this.#ledger.apply(record);
        written();
        this.#sequence = stored.at(-1)?.sequence ?? this.#sequence;
        this.#anchor ??= stored[0];
        return;
      } catch (error) {
        if (errorCodeOf(error) !== 'SESSION_CHANGED' || attempt >= MAX_ATTEMPTS) throw error;
        await this.read();
      }
    }
  }

  /**
   * Reads what others wrote.
   * @throws `STORE_UNAVAILABLE`; `SESSION_OWNER_MISMATCH`; `STORE_CORRUPT` for what can't be read
   */
  async read(): Promise<void> {
    if (this.#store === undefined) return;
    const { id } = this.#ref;
    for (;;) {
      const page = await this.#next(this.#store);
      if (page === undefined) {
        this.#startOver();
        continue;
      }
      if (page.length === 0) return;
      if (this.#sequence === 0) await this.#assertOwner(this.#store);
      for (const message of page) {
        const { data, sequence } = message;
        const record = parseRecord(data);
        if (record === undefined) {
          throw new EthosError(
            'STORE_CORRUPT',
            `message ${sequence} of the session ${JSON.stringify(id)} can not be read; use another session`,
          );
        }
        this.#ledger.apply(record);
        this.#sequence = sequence;
        this.#anchor = message;
      }
    }
  }

  /** The records after the known ones; `undefined` if the known ones are not there any more. */
  async #next(store: SessionStore): Promise<SessionMessage[] | undefined> {
    const { id } = this.#ref;
    const anchor = this.#anchor;
    if (anchor === undefined) return store.messages(id, { afterSequence: 0 });
    const found = await store.messages(id, { afterSequence: anchor.sequence - 1 });
    const [first] = found;
    if (first === undefined || placeOf(first) !== placeOf(anchor)) return undefined;
    const known = found.filter(({ sequence }) => sequence <= this.#sequence);
    this.#anchor = known.at(-1);
    if (known.length < found.length) return found.slice(known.length);
    // A page has a limit, and the known records may have taken all of it.
    const isWhole = this.#anchor?.sequence === this.#sequence && charsOf(found) < FULL_PAGE_CHARS;
    return isWhole ? [] : store.messages(id, { afterSequence: this.#sequence });
  }

  #startOver(): void {
    this.#sequence = 0;
    this.#anchor = undefined;
    this.#ledger.startOver();
  }

  async #assertOwner(store: SessionStore): Promise<void> {
    const info = await store.get(this.#ref.id);
    if (info === null || isSameOwner(info, this.#ref)) return;
    throw new EthosError(
      'SESSION_OWNER_MISMATCH',
      'the session belongs to another owner; open it with the identity that it began with, or give the session another id',
    );
  }
}

function charsOf(messages: readonly SessionMessage[]): number {
  return messages.reduce((sum, { data }) => sum + JSON.stringify(data ?? null).length, 0);
}

/** A text that no other record shares. */
function placeOf({ sequence, createdAt, data }: SessionMessage): string {
  return canonicalJson([sequence, createdAt, data]);
}
