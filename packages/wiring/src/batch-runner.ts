import type { DefaultToolRegistry, TurnHost } from '@ethosagent/core';
import {
  callListener,
  causeOfAbort,
  expandToolset,
  isMcpToolName,
  SessionReads,
} from '@ethosagent/policy';
import { ScopedStorage } from '@ethosagent/storage-fs';
import {
  errorCodeOf,
  type PersonalityConfig,
  type Storage,
  type ToolCall,
  type ToolCallResult,
} from '@ethosagent/types';
import { linkController, unlessAborted } from './abort.js';
import type { Admission } from './admission.js';
import { createBatchContext } from './batch-context.js';
import type { McpServers } from './mcp-servers.js';
import type { PersonalityConfigs } from './personality-configs.js';
import type { PersonalityProblems } from './personality-problems.js';
import type { PersonalityReach } from './personality-reach.js';
import { heldBack, leftOut, malformed, refuseAll } from './refusals.js';
import type { RefusedCalls } from './refused-calls.js';
import type { ExecuteOptions, ExecuteResult } from './runtime-api.js';

/** The parts of a runtime that batches use. */
export interface BatchRunnerParts {
  readonly registry: DefaultToolRegistry;
  readonly personalities: PersonalityConfigs;
  readonly problems: PersonalityProblems;
  readonly servers: McpServers;
  readonly admission: Admission;
  readonly refused: RefusedCalls;
  readonly storage: Storage;
  readonly denyPaths: readonly string[];
  readonly cwd: string;
  /** The session of calls that name none. */
  readonly sessionId: string;
  /** The personality of calls that name none. */
  readonly activePersonality: () => string;
  /** Whether the runtime is closed or is being closed. */
  readonly isClosing: () => boolean;
}

/** Runs batches under their personality, as its file is when each batch begins. */
export class BatchRunner {
  readonly #parts: BatchRunnerParts;
  readonly #scoped = new WeakMap<PersonalityReach, Storage>();
  readonly #reads = new SessionReads();
  readonly #running = new Map<AbortController, Promise<unknown>>();

  constructor(parts: BatchRunnerParts) {
    this.#parts = parts;
  }

  async run(calls: readonly ToolCall[], options: ExecuteOptions): Promise<ToolCallResult[]> {
    if (!Array.isArray(calls)) return [];
    // A copy: the caller may change its array.
    const batch: readonly ToolCall[] = Array.from(calls);
    let config: PersonalityConfig;
    let storage: Storage;
    try {
      config = await this.#admit(batch, options);
      // The host's own storage may throw.
      storage = this.#storageOf(config);
    } catch (error) {
      const { abortSignal } = options;
      const stopped = abortSignal?.aborted ? causeOfAbort(abortSignal.reason) : undefined;
      const cause = errorCodeOf(error) ?? stopped ?? 'CONFIG_INVALID';
      return this.#parts.refused.refuseAll(batch, error, { cause, options });
    }
    // Checked after the wait: a call that begins now would use stores and a log that are closed.
    if (this.#parts.isClosing())
      return refuseAll(batch, 'the call did not run: the runtime is closed', 'CALL_ABORTED');
    const refusals = this.#refuse(batch, config, options);
    const admitted = batch.filter((_, index) => refusals[index] === undefined);
    const answered = (await this.#execute(admitted, { config, storage }, options)).values();
    return refusals.flatMap((refusal) => refusal ?? answered.next().value ?? []);
  }

  /** As `run`, with the time that each call took. */
  async runTimed(calls: readonly ToolCall[], options: ExecuteOptions): Promise<ExecuteResult[]> {
    const { host } = options;
    const durations = new Map<string, number>();
    const onResult: TurnHost['onResult'] = (result, facts) => {
      if (facts?.ran === true) durations.set(result.toolCallId, facts.durationMs);
      host?.onResult?.(result, facts);
    };
    // The prototype keeps everything else that the host's object has.
    const noting: TurnHost = Object.create(host ?? null, { onResult: { value: onResult } });
    const results = await this.run(calls, { ...options, host: noting });
    return results.map((result) => ({
      ...result,
      durationMs: durations.get(result.toolCallId) ?? 0,
    }));
  }

  /** Drops what the runtime knows about a session's reads. */
  forget(sessionId: string): void {
    this.#reads.forget(sessionId);
  }

  /** Aborts everything that runs, and waits for its end. */
  async end(): Promise<void> {
    for (const controller of this.#running.keys()) {
      controller.abort(new DOMException('the runtime was closed', 'AbortError'));
    }
    await Promise.allSettled(this.#running.values());
  }

  /** @throws `CONFIG_INVALID`, `REACH_WIDENED`, or an `AbortError` */
  async #admit(
    batch: readonly ToolCall[],
    { personality, abortSignal }: ExecuteOptions,
  ): Promise<PersonalityConfig> {
    const { admission, activePersonality } = this.#parts;
    const id = personality ?? activePersonality();
    const asksServer = batch.some((call) => isMcpToolName(Object(call).name));
    const config = await (asksServer
      ? unlessAborted(admission.ready(id), abortSignal)
      : admission.admit(id));
    admission.assertStillAdmitted(config);
    return config;
  }

  /**
   * The answers to calls that do not reach the registry, each at its place in the batch. They are
   * recorded and reported.
   */
  #refuse(
    batch: readonly ToolCall[],
    config: PersonalityConfig,
    options: ExecuteOptions,
  ): readonly (ToolCallResult | undefined)[] {
    const { problems, servers, refused } = this.#parts;
    const held = problems.heldBack(config);
    const refusals = batch.map(
      (call, index) =>
        malformed(call, index) ??
        leftOut(call, options.tools) ??
        heldBack(call, held.get(call.name), 'CONFIG_INVALID') ??
        heldBack(call, servers.whyMissing(call.name, config.id), 'TOOL_UNAVAILABLE') ??
        heldBack(call, this.#whyUnregistered(call.name, config), 'TOOL_NOT_FOUND'),
    );
    const told = refusals.map(
      (refusal, index) => refusal && refused.record(refusal, batch[index], options),
    );
    for (const refusal of told) {
      if (refusal !== undefined) callListener(() => options.host?.onResult?.(refusal));
    }
    return told;
  }

  /** Why the host has not the tool that a personality names, for whoever reads the answer. */
  #whyUnregistered(name: string, { id, toolset }: PersonalityConfig): string | undefined {
    const { registry } = this.#parts;
    if (registry.get(name) !== undefined || toolset?.includes(name) !== true) return undefined;
    if (!expandToolset(toolset, registry.list()).unknown.includes(name)) return undefined;
    return `there is no tool ${JSON.stringify(name)}: the toolset of ${JSON.stringify(id)} names it, but the program has not registered it; go on without it, and tell the user that \`tools\` of the runtime lacks it`;
  }

  async #execute(
    calls: readonly ToolCall[],
    { config, storage }: { config: PersonalityConfig; storage: Storage },
    options: ExecuteOptions,
  ): Promise<ToolCallResult[]> {
    const { registry, admission, cwd, sessionId } = this.#parts;
    const { controller, unlink } = linkController(options.abortSignal);
    const running = registry.executeParallel(
      calls,
      createBatchContext(
        { config, cwd, sessionId, storage, reads: this.#reads, abortSignal: controller.signal },
        options,
      ),
      admission.toolNames(config),
      admission.filters(config),
      options.attachments,
      options.host,
    );
    this.#running.set(controller, running);
    const results = await running;
    this.#running.delete(controller);
    unlink();
    return results;
  }

  /** The storage of a personality, for tools that declare no reach of their own. */
  #storageOf(config: PersonalityConfig): Storage {
    const { personalities, storage, denyPaths } = this.#parts;
    const reach = personalities.reachOf(config);
    let scoped = this.#scoped.get(reach);
    if (scoped === undefined) {
      const { read, write, deny, leads } = reach;
      scoped = new ScopedStorage(storage, { read, write, leads, deny: [...denyPaths, ...deny] });
      this.#scoped.set(reach, scoped);
    }
    return scoped;
  }
}
