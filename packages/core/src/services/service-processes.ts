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

/** Milliseconds that are waited for a tree that was told to end. Not every one may be killed. */
const MAX_STOP_MS = 5_000;

/** Processes of a service: those of a call, and such that are talked to. */
export class ServiceProcessesImpl implements ServiceProcesses {
  readonly #processes: ScopedProcessImpl;

  constructor(processes: ScopedProcessImpl) {
    this.#processes = processes;
  }

  /** As in a call; ends with the service. Throws as there. */
  spawn(binary: string, args: string[], opts?: SpawnOpts): Promise<ProcessResult> {
    return this.#processes.spawn(binary, args, opts);
  }

  /** A process whose standard input stays open, and of whose output nothing is kept. Throws as `spawn`. */
  open(
    binary: string,
    args: string[],
    opts: Omit<SpawnOpts, 'overflow' | 'maxOutputBytes'> = {},
  ): Promise<ProcessConnection> {
    return unawaited(this.#open(binary, args, opts));
  }

  /** As `spawn`, except for the start. Throws as `spawn`; `SANDBOX_UNAVAILABLE` where one is required. */
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
    // What can't be started rejects here rather than later.
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
  // Nothing was to be kept, so that nothing was cut.
  const { truncated: _, ...result } = await running;
  return result;
}
