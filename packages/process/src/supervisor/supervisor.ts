import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { withoutInherited } from '../cover-inherited.js';
import {
  environmentOf,
  SUPERVISED_LIMIT_VARIABLE,
  SUPERVISOR_VARIABLE,
  TAG_VARIABLE,
} from '../process-marks.js';
import { endAtOnce, isGroupAlive, KILL_GRACE_MS } from '../process-tree.js';
import { type HostMark, openHostMark } from './host-mark.js';
import { HOST_TAG } from './host-tag.js';
import { hostLimitMark, type LimitMark } from './limit-mark.js';
import { SUPERVISOR } from './program.js';
import { reportSupervisor } from './supervisor-problem.js';

/**
 * How often a supervisor that was ended is restarted before the next process of the host starts.
 */
const MAX_RESTARTS = 3;

/** The marks of every process of this host, as far as this machine offers them. */
interface OpenMarks {
  /** To become descriptor 3 of the process. */
  descriptor: number | undefined;
  limit: LimitMark | undefined;
}

/**
 * Ends the processes of this host when the host ends, in any way. The supervisor is a process of
 * its own that reads from a pipe. Only the host can write to the pipe, so it closes when the host
 * ends, even by SIGKILL. Then the supervisor ends what is left, by marks and by groups.
 *
 * The invariant: the supervisor is asked to start (`begin`) before any process of the host starts.
 * A leader is forgotten only when its whole group is gone. On Linux the marks find a process from
 * its first moment on. On other systems, a process stays if the host dies between its start and
 * `add`.
 */
class Supervisor {
  /** The leaders of groups that may still have processes. */
  readonly #leaders = new Set<number>();
  #mark: HostMark | undefined;
  #child: ChildProcess | undefined;
  #restarts = 0;

  /**
   * Called before a process of the host starts.
   * @returns the marks that the process must get
   */
  begin(): OpenMarks {
    this.#restarts = 0;
    if (this.#child === undefined) this.#start();
    for (const leader of this.#leaders) this.forget(leader);
    return { descriptor: this.#mark?.descriptor, limit: hostLimitMark() };
  }

  /** Adds a process that leads a group of its own. */
  add(leader: number): void {
    this.#leaders.add(leader);
    this.#tell(`+${leader}\n`);
  }

  /** Removes a leader that has ended, unless any process of its group is left. */
  forget(leader: number): void {
    if (isGroupAlive(leader)) return;
    this.#leaders.delete(leader);
    this.#tell(`-${leader}\n`);
  }

  /** Ends all processes itself, if no supervisor runs that would. */
  atExit(): void {
    if (this.#child !== undefined) return;
    const tag = `${TAG_VARIABLE}=${HOST_TAG}`;
    endAtOnce(this.#leaders, {
      carries: (pid) => environmentOf(pid).includes(tag) || hostLimitMark()?.carries(pid) === true,
    });
  }

  #start(): void {
    this.#mark ??= openHostMark();
    const tag = `${TAG_VARIABLE}=${HOST_TAG}`;
    try {
      const marks = [this.#mark?.target ?? '', hostLimitMark()?.first ?? ''];
      const told = [tag, String(KILL_GRACE_MS), ownGroup(), ...marks];
      this.#follow(
        spawn(process.execPath, ['--v8-pool-size=0', '-e', SUPERVISOR, ...told], {
          argv0: 'ethos-supervisor',
          // It must not hold the folder or the terminal of the host.
          cwd: '/',
          detached: true,
          env: environment(),
          stdio: withoutInherited(['pipe', 'ignore', 'ignore']),
          windowsHide: true,
        }),
      );
    } catch (error) {
      reportSupervisor(`can't be started (${String(error)})`);
    }
  }

  #follow(child: ChildProcess): void {
    child.once('error', (error) => {
      this.#lose(child, `can't be started (${error.message})`);
    });
    child.once('exit', (code, signal) => {
      this.#lose(child, `was ended (${signal ?? `exit code ${code}`})`);
      if (this.#leaders.size === 0 || ++this.#restarts > MAX_RESTARTS) return;
      this.#start();
    });
    if (child.pid === undefined) return;
    this.#child = child;
    child.stdin?.on('error', () => {});
    // It must not keep the host from exiting.
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    for (const leader of this.#leaders) this.#tell(`+${leader}\n`);
  }

  #lose(child: ChildProcess, why: string): void {
    if (this.#child === child) this.#child = undefined;
    reportSupervisor(why);
  }

  #tell(line: string): void {
    this.#child?.stdin?.write(line);
  }
}

/** Only what this Node needs to start: no options of the host, and no tag of a call. */
function environment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: it is started as the host itself was
  const { LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, SystemRoot } = process.env;
  return {
    ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH }),
    ...(DYLD_LIBRARY_PATH !== undefined && { DYLD_LIBRARY_PATH }),
    ...(SystemRoot !== undefined && { SystemRoot }),
    ELECTRON_RUN_AS_NODE: '1',
    [SUPERVISOR_VARIABLE]: HOST_TAG,
    [SUPERVISED_LIMIT_VARIABLE]: hostLimitMark()?.first ?? '',
  };
}

/** The process group of this process; 0 if it can't be read. */
function ownGroup(): string {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2] ?? '0';
  } catch {
    return '0';
  }
}

let instance: Supervisor | undefined;

/** The supervisor of this host. */
export function hostSupervisor(): Supervisor {
  if (instance === undefined) {
    const supervisor = new Supervisor();
    instance = supervisor;
    process.on('exit', () => supervisor.atExit());
  }
  return instance;
}
