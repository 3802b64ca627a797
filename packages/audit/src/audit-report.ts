/** Something that no sink wrote, or that is no longer there. */
export interface AuditProblem {
  file: string;
  /** From 1; 0 where no line is meant. */
  line: number;
  /** The place in the log of the line that is meant, where it can be told. */
  seq: number | undefined;
  what: AuditProblemKind;
}

/**
 * `malformed`: not a line of a sink, or text at the end that nobody goes on writing. `edited`: the
 * line, or its hash, was changed or put in, or the key is another. `missing`: lines from `seq` up to
 * this one are not there. `out-of-order`: the line was moved or doubled. `cut-off`: the end of the log,
 * from `seq` on, is not there. `head-missing`, `head-wrong`: the file that says where the log ends is not
 * there, or was changed, is of another log or key, or the log goes on behind it; or two logs of the folder
 * have the same id.
 */
export type AuditProblemKind =
  | 'malformed'
  | 'edited'
  | 'missing'
  | 'out-of-order'
  | 'cut-off'
  | 'head-missing'
  | 'head-wrong';

/** What a check found. */
export interface AuditReport {
  /** Whether there is no problem. */
  ok: boolean;
  /** Lines that were read. */
  events: number;
  /** The first 1,000. */
  problems: AuditProblem[];
  /** What this check can't tell, one sentence each. Empty where a key holds for every line. */
  cannotTell: string[];
  /**
   * Bytes behind the last line break of a log, where there are any: what a crash left of a line
   * that did not count, or what another program put there. The next sink cuts them off. `malformed`
   * when no running sink has the log, or when it is a whole line.
   */
  unfinishedBytes?: number;
}
