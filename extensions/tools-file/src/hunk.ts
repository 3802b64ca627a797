/** One change: a text that is in the file, and what takes its place. */
export interface Hunk {
  search: string;
  replace: string;
  /** Replace every occurrence, rather than the only one. */
  replace_all?: boolean | undefined;
  /** Take both texts as they are, white space and all. */
  exact?: boolean | undefined;
}

/** What was overlooked to find a text. */
export type Tolerance =
  | 'line endings'
  | 'trailing whitespace'
  | 'indentation'
  | 'whitespace'
  | 'quotes';
