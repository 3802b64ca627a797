import { Readable } from 'node:stream';
import {
  type AuditEvent,
  CapabilityError,
  EthosError,
  type ProcessResult,
  type ScopedProcess,
  type SpawnOpts,
  type ToolCapabilities,
} from '@ethosagent/types';
import { createFakeBackground, type FakeBackgroundProcess } from './fake-background.js';

/**
 * The result of a binary, or a function that returns it. Fields that are absent mean exit code 0
 * and no output. For a process that keeps running, the function may write through `opts.onOutput`,
 * read from `input`, and return a promise that stays pending.
 */
export type ProcessAnswer =
  | Partial<ProcessResult>
  | ((
      args: readonly string[],
      opts: SpawnOpts,
      /** The text that is written to a process of a service. Empty for any other process. */
      input: AsyncIterable<string>,
    ) => Partial<ProcessResult> | Promise<Partial<ProcessResult>>);

/** Answers by the name of the binary. */
export type ProcessTable = Readonly<Record<string, ProcessAnswer>>;

/** A process that a tool started. */
export interface SpawnedProcess {
  binary: string;
  args: string[];
  opts: SpawnOpts;
}

/** A decision about an access to processes. */
export type ProcessAccess = Pick<AuditEvent, 'operation' | 'target' | 'decision' | 'reason'>;

export interface FakeProcessOptions {
  declared: NonNullable<ToolCapabilities['process']>;
  table: ProcessTable;
  /** The list to which each started process is added. */
  spawned: SpawnedProcess[];
  /** The background processes. */
  background: FakeBackgroundProcess[];
  /** The session and the personality that start them. */
  owner: FakeBackgroundProcess['owner'];
  signal: AbortSignal;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /** Called for each decision. */
  onAccess?: ((access: ProcessAccess) => void) | undefined;
}

/** Checks, records and answers starts of processes. Nothing is really started. */
export interface FakeStarts {
  allows: (binary: string) => boolean;
  /** Runs `run` and reports an allowed access, or a denied one if `run` throws a denial. */
  record: <T>(operation: string, target: string, run: () => T) => T;
  /** Checks and records a start. Returns the function that answers for the process. */
  begin: (
    binary: string,
    args: readonly string[],
    opts: SpawnOpts,
  ) => (told: SpawnOpts, input?: AsyncIterable<string>) => Promise<ProcessResult>;
}

/** Creates starts that a table answers. Only declared binaries are allowed. */
export function createFakeStarts({
  declared,
  table,
  spawned,
  onAccess,
}: Pick<FakeProcessOptions, 'declared' | 'table' | 'spawned' | 'onAccess'>): FakeStarts {
  const allows = (binary: string) =>
    declared.allowedBinaries.includes(binary) || declared.allowedBinaries.includes('*');
  const record = <T>(operation: string, target: string, run: () => T): T => {
    try {
      const result = run();
      onAccess?.({ operation, target, decision: 'allowed', reason: 'inside the reach' });
      return result;
    } catch (error) {
      const [decision, reason] =
        error instanceof CapabilityError
          ? (['denied', error.rule] as const)
          : (['allowed', 'inside the reach'] as const);
      onAccess?.({ operation, target, decision, reason });
      throw error;
    }
  };
  const begin = (binary: string, args: readonly string[], opts: SpawnOpts) => {
    if (!allows(binary)) {
      throw new CapabilityError(
        'BINARY_NOT_ALLOWED',
        `${binary} is not in the declared allowedBinaries`,
        'not declared',
      );
    }
    const answer = Object.hasOwn(table, binary) ? table[binary] : undefined;
    if (answer === undefined) {
      throw new EthosError('SPAWN_FAILED', `${binary} is not in the table of processes; add it`);
    }
    spawned.push({ binary, args: [...args], opts });
    return (told: SpawnOpts, input: AsyncIterable<string> = Readable.from([])) =>
      run(answer, { args, opts: told, input });
  };
  return { allows, record, begin };
}

/**
 * Creates a `ScopedProcess` that starts nothing. A table answers for the declared binaries.
 */
export function createFakeProcess(options: FakeProcessOptions): ScopedProcess {
  const { declared, background, owner, signal, now } = options;
  const { allows, record, begin } = createFakeStarts(options);
  return {
    async spawn(binary, args, opts = {}) {
      return record('spawn', binary, () => begin(binary, args, opts))(opts);
    },
    ...(declared.background === true && {
      background: createFakeBackground({
        processes: background,
        owner,
        signal,
        now,
        allows,
        begin,
        record,
      }),
    }),
  };
}

async function run(
  answer: ProcessAnswer,
  { args, opts, input }: { args: readonly string[]; opts: SpawnOpts; input: AsyncIterable<string> },
): Promise<ProcessResult> {
  const given = typeof answer === 'function' ? await answer(args, opts, input) : answer;
  const result = { exitCode: 0, stdout: '', stderr: '', ...given };
  for (const stream of ['stdout', 'stderr'] as const) {
    if (result[stream] !== '') await opts.onOutput?.(result[stream], stream);
  }
  return cut(result, opts);
}

/** Cuts output beyond the limit, and by default ends the process, as the real accessor does. */
function cut(result: ProcessResult, { maxOutputBytes, overflow }: SpawnOpts): ProcessResult {
  if (maxOutputBytes === undefined || !(maxOutputBytes >= 0)) return result;
  const stdout = firstBytes(result.stdout, maxOutputBytes);
  const stderr = firstBytes(result.stderr, maxOutputBytes);
  if (stdout === result.stdout && stderr === result.stderr) return result;
  return {
    ...result,
    ...(overflow !== 'drop' && { exitCode: 143, signal: 'SIGTERM' }),
    stdout,
    stderr,
    truncated: true,
  };
}

function firstBytes(text: string, count: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= count) return text;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, count));
}
