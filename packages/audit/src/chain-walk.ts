import type { AuditProblem, AuditProblemKind } from './audit-report.js';
import { type ChainHash, firstHash, hashAt, type Link, parseLine } from './chain.js';
import { type Head, headPath, lastAllowed, type NoHead } from './head-file.js';

export class ChainWalk {
  events = 0;
  readonly #log: string;
  readonly #keyHash: ChainHash;
  #hashAt: (seq: number) => ChainHash;
  readonly #report: (problem: AuditProblem) => void;
  #head: Head | undefined;
  #last: Link | undefined;
  #file = '';

  constructor(log: string, hashOf: ChainHash, report: (problem: AuditProblem) => void) {
    this.#log = log;
    this.#keyHash = hashOf;
    this.#hashAt = () => hashOf;
    this.#report = report;
  }

  /**
   * Begins the check.
   *
   * @param head the head before the first line was read
   * @param isShared whether another log has the same id
   */
  start(head: Head | NoHead, isShared: boolean): void {
    if (typeof head !== 'string') {
      this.#head = head;
      this.#hashAt = hashAt(this.#keyHash, head.keyedFrom);
    }
    if (typeof head === 'string')
      this.#headProblem(head === 'missing' ? 'head-missing' : 'head-wrong');
    if (isShared) this.#headProblem('head-wrong');
  }

  malformed(file: string, number: number): void {
    this.#report({ file, line: number, seq: undefined, what: 'malformed' });
  }

  line(file: string, number: number, bytes: Buffer): void {
    const line = parseLine(bytes);
    if (line === undefined) {
      this.malformed(file, number);
      return;
    }
    this.events += 1;
    const { seq, hash } = line;
    const report = (what: AuditProblemKind, at = seq) =>
      this.#report({ file, line: number, seq: at, what });
    const isFirst = file !== this.#file;
    this.#file = file;
    const last = this.#last;
    if (last !== undefined && seq <= last.seq) {
      report('out-of-order');
      return;
    }
    // Without a head, any first line is accepted.
    const expected = last === undefined ? (this.#head?.oldest ?? seq) : last.seq + 1;
    if (seq > expected) report('missing', expected);
    const previous = this.#previousOf(seq, isFirst ? line.prev : undefined);
    // After a gap at the start of a file, it is unknown which hash the line follows.
    const isTold = previous !== undefined || seq <= expected;
    if (isTold && (previous === undefined || this.#hashAt(seq)(previous, line.text) !== hash)) {
      report('edited');
    } else if (seq === this.#head?.seq && hash !== this.#head.hash) {
      this.#headProblem('head-wrong');
    }
    this.#last = { seq, hash };
  }

  /**
   * Returns the hash that a line follows; `undefined` if it is unknown, or if the line names
   * another one.
   */
  #previousOf(seq: number, named: string | undefined): string | undefined {
    const isNext = this.#last !== undefined && seq === this.#last.seq + 1;
    const known = isNext ? this.#last?.hash : seq === 1 ? this.#first() : undefined;
    return known === undefined || named === undefined || known === named
      ? (known ?? named)
      : undefined;
  }

  #first(): string | undefined {
    return this.#head && firstHash(this.#head.id, this.#hashAt(1));
  }

  /**
   * Ends the check.
   *
   * @param now the head after the last line was read; the log may have grown meanwhile
   */
  end(now: Head | NoHead): void {
    const newest = this.#last?.seq ?? 0;
    if (this.#head !== undefined && newest < this.#head.seq) {
      this.#report({ file: this.#log, line: 0, seq: newest + 1, what: 'cut-off' });
    }
    // A process that was killed between a write and its head leaves more lines than the head says.
    if (typeof now !== 'string' && newest > lastAllowed(now)) {
      this.#headProblem('head-wrong');
    }
  }

  #headProblem(what: AuditProblemKind): void {
    this.#report({ file: headPath(this.#log), line: 0, seq: this.#head?.seq, what });
  }
}
