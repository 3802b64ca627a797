import { unawaited } from '@ethosagent/policy';
import type { RunningChild } from '@ethosagent/process';
import type {
  PreparedCommand,
  ProcessConnection,
  ProcessResult,
  ServiceProcesses,
  SpawnOpts,
} from '@ethosagent/types';
import type { ScopedProcessImpl } from '../scoped/scoped-process.js';
import { waitAtMost } from './wait-at-most.js';

/** How many milliseconds the end of a process tree is awaited. Not every process can be killed. */
const MAX_STOP_MS = 5_000;

/** The processes of a service: as in a call, and also ones that it exchanges messages with. */
export class ServiceProcessesImpl implements ServiceProcesses {
  readonly #processes: ScopedProcessImpl;

  constructor(processes: ScopedProcessImpl) {
    this.#processes = processes;
  }

  /** As in a call, but the process ends with the service. Throws the same errors. */
  spawn(binary: string, args: string[], opts?: SpawnOpts): Promise<ProcessResult> {
    return this.#processes.spawn(binary, args, opts);
  }

  /**
   * Starts a process whose standard input stays open, and whose output is not kept. Throws as
   * `spawn`.
   */
  open(
    binary: string,
    args: string[],
    opts: Omit<SpawnOpts, 'overflow' | 'maxOutputBytes'> = {},
  ): Promise<ProcessConnection> {
    return unawaited(this.#open(binary, args, opts));
  }

  /**
   * As `spawn`, but does not start the process. Throws as `spawn`; `SANDBOX_UNAVAILABLE` if a
   * sandbox is required.
   */
  prepare(
    binary: string,
    args: string[],
    opts?: Pick<SpawnOpts, 'cwd' | 'env'>,
  ): Promise<PreparedCommand> {
    return this.#processes.prepare(binary, args, opts);
  }

  async #open(binary: string, args: string[], opts: SpawnOpts): Promise<ProcessConnection> {
    const child = await this.#processes.launch('open', binary, args, {
      ...opts,
      overflow: 'drop',
      maxOutputBytes: 0,
    });
    const result = unawaited(withoutOutput(child.result));
    // If the process can't be started, this rejects now, and not only when its result is read.
    await Promise.race([child.started, result]);
    return connection(child, result);
  }
}

function connection(child: RunningChild, result: Promise<ProcessResult>): ProcessConnection {
  const { input } = child;
  return {
    result,
    write: async (data) => input?.write(data),
    end: () => input?.end(),
    async stop() {
      child.stop();
      await waitAtMost(child.closed, MAX_STOP_MS);
    },
  };
}

async function withoutOutput(running: Promise<ProcessResult>): Promise<ProcessResult> {
  // No output is kept, so `truncated` has no meaning.
  const { truncated: _, ...result } = await running;
  return result;
}
