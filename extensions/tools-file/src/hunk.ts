/** The most places that a search for one place finds. A message lists no more. */
export const MAX_AMBIGUOUS = 20;

/** One change of a file: a text in it, and the replacement of that text. */
export interface Hunk {
  search: string;
  replace: string;
  /** Replace every occurrence. Otherwise there must be exactly one. */
  replace_all?: boolean | undefined;
  /** Take both texts literally, white space included. */
  exact?: boolean | undefined;
}

/** The differences that were ignored to find a text. */
export type Tolerance =
  | 'line endings'
  | 'trailing whitespace'
  | 'indentation'
  | 'whitespace'
  | 'quotes';
