import { createHash } from 'node:crypto';
import { canonicalJson } from '@ethosagent/policy';

/** One item that is moved from a home to a store. */
export interface MoveItem {
  /** Its name for people. */
  name: string;
  /** The digest of the item in the home; `undefined` if it is no longer there. */
  source(): Promise<string | undefined>;
  /** The digest of the item in the store; `undefined` if it is not there. */
  target(): Promise<string | undefined>;
  /**
   * Writes what the store lacks. Returns `other` if the store has another value, which then stays.
   */
  copy(replace: boolean): Promise<'moved' | 'there' | 'other'>;
}

/** What is moved of one store, and how many items at once. */
export interface Move {
  items(): AsyncIterable<MoveItem>;
  atOnce: number;
}

/** The digest of plain JSON. Equal values have the same one, whatever the order of their fields. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
