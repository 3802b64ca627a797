import { isDeepStrictEqual } from 'node:util';
import { unawaited } from '@ethosagent/policy';
import type { HeldProcess, SessionProcesses } from '@ethosagent/process';
import {
  type BackgroundOutput,
  type BackgroundProcess,
  type BackgroundProcesses,
  CapabilityError,
} from '@ethosagent/types';
import { type AccessScope, type Allow, assertLive, recordAccess, textOf } from '../access.js';
import type { CallNarrowing } from '../call-narrowing.js';
import type { CallScope } from '../call-scope.js';
import type { LaunchOpts } from './command-place.js';
import type { ScopedProcessImpl } from './scoped-process.js';

/** What is known of the call that started a process. */
interface Start {
  /** The scope of the process. Its secrets are hidden in the output. */
  scope: CallScope;
  /** How the host had narrowed the call. The process keeps that reach. */
  narrowing: CallNarrowing | undefined;
}

const starts = new WeakMap<HeldProcess, Start>();

/** The longest time that a read waits. */
const MAX_WAIT_MS = 600_000;

export interface ScopedBackgroundOptions {
  /** The names that the tool declared. */
  allowed: ReadonlySet<string>;
  personalityId: string | undefined;
  /** How the host narrowed the call. */
  narrowing: CallNarrowing | undefined;
  /** The processes of the session, if it has any. */
  find: () => SessionProcesses | undefined;
  /** The processes of the session, created for the first start. */
  open: () => SessionProcesses;
  /** Opens a scope for the life of one process, with quotas of its own. */
  openScope: () => CallScope;
  /** Whether a call that begins now would have the same reach. */
  isCurrent: () => boolean;
  /** Starts processes within a scope, under the same limits as the call's own processes. */
  launcher: (scope: CallScope) => ScopedProcessImpl;
  /** Milliseconds since the epoch. */
  now: () => number;
  scope: AccessScope;
}

/** Background processes, limited to the declared binaries, the session and its personality. */
export class ScopedBackgroundImpl implements BackgroundProcesses {
  readonly #options: ScopedBackgroundOptions;

  constructor(options: ScopedBackgroundOptions) {
    this.#options = options;
  }

  start(binary: string, args: string[], opts: LaunchOpts = {}): Promise<BackgroundProcess> {
    return unawaited(this.#start(binary, args, opts));
  }

  list(): Promise<BackgroundProcess[]> {
    return this.#access('list', '*', async (allow) => {
      allow();
      const held = this.#options.find()?.list() ?? [];
      return held.filter((each) => this.#sees(each)).map(({ info }) => info);
    });
  }

  read(
    id: string,
    opts: { cursor?: number; maxChars?: number; waitMs?: number } = {},
  ): Promise<BackgroundOutput> {
    return this.#access('read', id, async (allow) => {
      const held = this.#findWithin(id);
      allow();
      const { cursor = 0, maxChars, waitMs = 0 } = opts;
      if (waitMs > 0) await this.#wait(held, cursor, waitMs);
      return { process: held.info, ...held.log.read(cursor, maxChars) };
    });
  }

  write(id: string, text: string): Promise<BackgroundProcess> {
    return this.#access('write', id, async (allow) => {
      const held = this.#findWithin(id);
      allow();
      // The process may repeat what it gets, and a later call may read that.
      const { redactor } = this.#options.scope;
      if (redactor !== undefined) starts.get(held)?.scope.addSecretsOf(redactor);
      await held.write(text);
      return held.info;
    });
  }

  stop(id: string): Promise<BackgroundProcess> {
    return this.#access('stop', id, async (allow) => {
      const held = this.#find(id);
      allow();
      await held.stop();
      return held.info;
    });
  }

  async #start(binary: string, args: string[], opts: LaunchOpts): Promise<BackgroundProcess> {
    const { open, personalityId, narrowing, openScope, isCurrent, launcher, now, scope } =
      this.#options;
    const { cwd, env, timeout, limits, keepsInput } = opts;
    const access = { capability: 'process', operation: 'start', target: textOf(binary) } as const;
    // The process has a scope of its own, which would let it start after the call has ended.
    assertLive(scope, access);
    const processes = open();
    const own = openScope();
    // The call or the session may end while the process starts. Then it must not start.
    const assertWanted = () => {
      scope.assertLive();
      processes.assertOpen();
      if (scope.signal.aborted) {
        throw new CapabilityError(
          'CALL_ENDED',
          'the turn was aborted before the process started',
          'call ended',
        );
      }
      // A process keeps the reach of its call, and may run on when the call is over.
      if (!isCurrent()) {
        throw new CapabilityError(
          'CALL_ENDED',
          'what the call may reach has changed since it began, so the process did not start; call the tool again',
          'reach changed',
        );
      }
    };
    try {
      const held = await processes.start({
        binary,
        args,
        personalityId,
        scope: own,
        now,
        launch: (onOutput) =>
          launcher(own).launch(
            'start',
            binary,
            args,
            {
              ...(cwd !== undefined && { cwd }),
              ...(env !== undefined && { env }),
              ...(timeout !== undefined && { timeout }),
              ...(limits !== undefined && { limits }),
              ...(keepsInput === true && { keepsInput }),
              onOutput,
              overflow: 'drop',
              maxOutputBytes: 0,
            },
            assertWanted,
          ),
      });
      starts.set(held, { scope: own, narrowing });
      // If the call ended meanwhile, nobody learns the id of the process, so it is ended.
      if (scope.signal.aborted) await held.abort(scope.signal.reason);
      return held.info;
    } catch (error) {
      own.end();
      // All other denials happen when it is launched, and are reported there.
      if (error instanceof CapabilityError && error.code === 'TOO_MANY_PROCESSES') {
        scope.record({ ...access, decision: 'denied', reason: error.rule });
      }
      throw error;
    }
  }

  #access<T>(operation: string, id: string, run: (allow: Allow) => Promise<T>): Promise<T> {
    const access = { capability: 'process', operation, target: textOf(id) } as const;
    return recordAccess(this.#options.scope, access, run);
  }

  #sees({ personalityId, info }: HeldProcess): boolean {
    const { allowed } = this.#options;
    return (
      personalityId === this.#options.personalityId &&
      (allowed.has(info.binary) || allowed.has('*'))
    );
  }

  #find(id: string): HeldProcess {
    const held = this.#options.find()?.get(id);
    if (held !== undefined && this.#sees(held)) return held;
    throw new CapabilityError(
      'PROCESS_NOT_FOUND',
      `this session has no background process ${JSON.stringify(textOf(id))}; list those that there are`,
      'no process of this session and tool',
    );
  }

  /**
   * A call that was narrowed would go beyond its reach with a process that may reach more.
   * @throws `PROCESS_NOT_FOUND`
   */
  #findWithin(id: string): HeldProcess {
    const held = this.#find(id);
    const { narrowing } = this.#options;
    if (narrowing === undefined || isDeepStrictEqual(narrowing, starts.get(held)?.narrowing)) {
      return held;
    }
    throw new CapabilityError(
      'PROCESS_NOT_FOUND',
      `${id} was started by a call with another reach than this one, which was narrowed; start it again`,
      'the call was narrowed',
    );
  }

  /** Waits until there is output after the cursor, the process has ended, or the time is over. */
  async #wait(held: HeldProcess, cursor: number, waitMs: number): Promise<void> {
    const isDue = () => held.isRunning && cursor >= held.log.readableEnd;
    if (!isDue()) return;
    const { scope } = this.#options;
    const timeout = AbortSignal.timeout(Math.ceil(Math.min(waitMs, MAX_WAIT_MS)));
    const signal = AbortSignal.any([scope.signal, timeout]);
    while (isDue() && !signal.aborted) await held.changed(signal);
  }
}
