import { createHash } from 'node:crypto';
import { canonicalJson } from '@ethosagent/policy';

/** One thing that is moved from a home to a store. */
export interface MoveItem {
  /** What it is called, for people. */
  name: string;
  /** The digest of what the home has; `undefined` where it has it no more. */
  source(): Promise<string | undefined>;
  /** The digest of what the store has of it; `undefined` where it has nothing. */
  target(): Promise<string | undefined>;
  /** Writes what the store lacks; `other` where it has something else, which stays. */
  copy(replace: boolean): Promise<'moved' | 'there' | 'other'>;
}

/** What is moved of one store, and how much of it at once. */
export interface Move {
  items(): AsyncIterable<MoveItem>;
  atOnce: number;
}

/** Of plain JSON; equal values have the same, in whichever order their fields are. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
