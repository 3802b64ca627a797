/** A place in a log that no sink wrote like this, or from which something is missing. */
export interface AuditProblem {
  file: string;
  /** The number of the line in the file, from 1; 0 for a problem of the whole file. */
  line: number;
  /** The number of the line in the log, from 1; `undefined` if it is unknown. */
  seq: number | undefined;
  what: AuditProblemKind;
}

/**
 * The kind of a problem.
 *
 * - `malformed`: the line is not one that a sink writes, or it is an unfinished line at the end
 *   that no sink is writing.
 * - `edited`: somebody changed or inserted the line, or it was written with another key.
 * - `missing`: the lines from `seq` up to this line are missing.
 * - `out-of-order`: the line was moved or repeated.
 * - `cut-off`: the end of the log, from `seq` on, is missing.
 * - `head-missing`: the head, which is the file that says where the log ends, is missing.
 * - `head-wrong`: the head was changed, or belongs to another log or key, or the log continues
 *   after the end that it names, or two logs of the folder have the same id.
 */
export type AuditProblemKind =
  | 'malformed'
  | 'edited'
  | 'missing'
  | 'out-of-order'
  | 'cut-off'
  | 'head-missing'
  | 'head-wrong';

/** The result of a check. */
export interface AuditReport {
  /** Whether there is no problem. */
  ok: boolean;
  /** The number of lines that were read. */
  events: number;
  /** The problems that were found, the first 1,000 at most. */
  problems: AuditProblem[];
  /**
   * What this check can't detect, one sentence each. Empty if every line was written with a key.
   */
  cannotTell: string[];
  /**
   * The number of bytes after the last line break of a log, if there are any. A crash left a part
   * of a line there, which does not count, or another program wrote there. The next sink removes
   * these bytes. They are also a problem (`malformed`) if no running sink has the log, or if they
   * are a whole line.
   */
  unfinishedBytes?: number;
}
