/** One change: a text of the file, and its replacement. */
export interface Hunk {
  search: string;
  replace: string;
  /** Replace every occurrence, rather than the only one. */
  replace_all?: boolean | undefined;
  /** Take both texts literally, with their white space. */
  exact?: boolean | undefined;
}

/** Differences that were ignored to find a text. */
export type Tolerance =
  | 'line endings'
  | 'trailing whitespace'
  | 'indentation'
  | 'whitespace'
  | 'quotes';
