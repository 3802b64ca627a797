import {
  CapabilityError,
  EthosError,
  type ProcessResult,
  type ScopedProcess,
  type SpawnOpts,
} from '@ethosagent/types';

/** What a binary comes back with; exit code 0 and no output where nothing else is said. */
export type ProcessAnswer =
  | Partial<ProcessResult>
  | ((
      args: readonly string[],
      opts: SpawnOpts,
    ) => Partial<ProcessResult> | Promise<Partial<ProcessResult>>);

/** Answers by binary. */
export type ProcessTable = Readonly<Record<string, ProcessAnswer>>;

/** A process that a tool started. */
export interface SpawnedProcess {
  binary: string;
  args: string[];
  opts: SpawnOpts;
}

export interface FakeProcessOptions {
  allowedBinaries: readonly string[];
  table: ProcessTable;
  /** Where started processes are noted. */
  spawned: SpawnedProcess[];
  /** Hears of each decision. */
  onAccess?: (target: string, decision: 'allowed' | 'denied', rule: string) => void;
}

/** A `ScopedProcess` that starts nothing: it answers from a table, for declared binaries only. */
export function createFakeProcess(options: FakeProcessOptions): ScopedProcess {
  const { allowedBinaries, table, spawned, onAccess } = options;
  return {
    async spawn(binary, args, opts = {}) {
      if (!allowedBinaries.includes(binary) && !allowedBinaries.includes('*')) {
        onAccess?.(binary, 'denied', 'not declared');
        throw new CapabilityError(
          'BINARY_NOT_ALLOWED',
          `${binary} is not in the declared allowedBinaries`,
          'not declared',
        );
      }
      onAccess?.(binary, 'allowed', 'inside the reach');
      const answer = Object.hasOwn(table, binary) ? table[binary] : undefined;
      if (answer === undefined) {
        throw new EthosError('SPAWN_FAILED', `${binary} is not in the table of processes; add it`);
      }
      spawned.push({ binary, args: [...args], opts });
      const given = typeof answer === 'function' ? await answer(args, opts) : answer;
      return { exitCode: 0, stdout: '', stderr: '', ...given };
    },
  };
}
