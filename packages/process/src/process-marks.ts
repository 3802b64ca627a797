import { readFileSync } from 'node:fs';

/** The variable by which descendants are found that left the process group. */
export const TAG_VARIABLE = 'ETHOS_CALL_TAG';

/**
 * A variable in the environment of a supervisor. Its value begins with the tag that the host
 * inherited.
 */
export const SUPERVISOR_VARIABLE = 'ETHOS_SUPERVISOR';

/** The variable with the limit by which the supervisor recognizes its host's processes. */
export const SUPERVISED_LIMIT_VARIABLE = 'ETHOS_SUPERVISED_LIMIT';

/** By what processes are found that left their group, their session and their parent. */
export interface Marks {
  /** Whether a process, or what it came from, was started under these marks. */
  carries(pid: number): boolean;
}

/**
 * The marks of the processes of one call, or of one process and its descendants: a tag in the
 * environment, and a limit of a resource.
 *
 * A process can leave its group, its session and its parent, so that none of them finds it. It can clear
 * its environment, and then still has the limit, which it inherits. The invariant: no other process
 * carries the same marks, because a tag has a random id and is never used again. A process that carries
 * a mark may therefore be ended by its id alone, whoever its parent is.
 */
export class ProcessMarks implements Marks {
  readonly tag: string;
  readonly #limits = new Set<string>();
  readonly #outer: ProcessMarks | undefined;
  #parts = 0;

  /**
   * Marks under a tag that nothing else has.
   *
   * @param tag is in the environment of each process, and of its descendants
   * @param outer marks that these are a part of
   */
  constructor(tag: string, outer?: ProcessMarks) {
    this.tag = tag;
    this.#outer = outer;
  }

  /**
   * The marks of one process of these, and of its descendants.
   *
   * @returns marks with a tag of their own
   */
  next(): ProcessMarks {
    return new ProcessMarks(`${this.tag}${++this.#parts}.`, this);
  }

  /**
   * Notes a limit that a process was started with.
   *
   * @param limit as it was given to the system
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

/** The hard limit of file locks of a process; `undefined` if it has none. */
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
