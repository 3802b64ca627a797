import { readFileSync } from 'node:fs';

/**
 * The environment variable that marks the processes of a call, even after they have left its
 * process group.
 */
export const TAG_VARIABLE = 'ETHOS_CALL_TAG';

/**
 * A variable in the environment of a supervisor. Its value begins with the tag that the host
 * inherited.
 */
export const SUPERVISOR_VARIABLE = 'ETHOS_SUPERVISOR';

/** The variable with the limit by which the supervisor recognizes its host's processes. */
export const SUPERVISED_LIMIT_VARIABLE = 'ETHOS_SUPERVISED_LIMIT';

/**
 * Marks by which processes are found after they have left their group, their session and their
 * parent.
 */
export interface Marks {
  /**
   * Whether a process has these marks: it was started under them, or is a descendant of such a
   * process.
   */
  carries(pid: number): boolean;
}

/**
 * The marks of the processes of one call, or of one process and its descendants: a tag in the
 * environment, and the value of a resource limit.
 *
 * A process can leave its group, its session and its parent, so none of these is enough to find it.
 * It can also clear its environment, but it still has the limit, which it inherits. The invariant:
 * no other process carries the same marks, because a tag has a random id and is never used again.
 * So a process that carries a mark belongs to the call, and may be ended by its process id.
 */
export class ProcessMarks implements Marks {
  readonly tag: string;
  readonly #limits = new Set<string>();
  readonly #outer: ProcessMarks | undefined;
  #parts = 0;

  /**
   * Creates marks.
   *
   * @param tag a unique tag, for the environment of each process and its descendants
   * @param outer the marks of which these are a part
   */
  constructor(tag: string, outer?: ProcessMarks) {
    this.tag = tag;
    this.#outer = outer;
  }

  /**
   * Creates the marks of one process among these, and of its descendants.
   *
   * @returns marks with their own tag
   */
  next(): ProcessMarks {
    return new ProcessMarks(`${this.tag}${++this.#parts}.`, this);
  }

  /**
   * Adds the limit with which a process was started.
   *
   * @param limit the limit, as a decimal number
   */
  addLimit(limit: string): void {
    this.#limits.add(limit);
    this.#outer?.addLimit(limit);
  }

  carries(pid: number): boolean {
    const environment = environmentOf(pid);
    if (environment.includes(`${TAG_VARIABLE}=${this.tag}`)) return true;
    if (this.#limits.size === 0 || !this.#limits.has(fileLocksOf(pid) ?? '')) return false;
    if (isEnded(pid)) return false;
    // A host within the call may have a supervisor of its own. It is not killed: it ends what its
    // host started, and then itself.
    return !environment.includes(`${SUPERVISOR_VARIABLE}=${this.tag}`);
  }
}

/** Reads the hard limit of file locks of a process; `undefined` if it has none. */
export function fileLocksOf(pid: number | 'self'): string | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
    return /^Max file locks +\d+ +(\d+)/m.exec(limits)?.[1];
  } catch {
    return undefined;
  }
}

/**
 * Whether a process has ended, and its parent has not read its exit code yet. It keeps its limits
 * until then.
 */
export function isEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return ['Z', 'X'].includes(stat.charAt(stat.lastIndexOf(')') + 2));
  } catch {
    return true;
  }
}

/** The environment that a process was started with; empty if it can't be read. */
export function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
