import { isDeepStrictEqual } from 'node:util';
import { resolveCallBudget } from '@ethosagent/policy';
import type { ServiceScope, ToolCall, ToolResult } from '@ethosagent/types';
import { CallScope } from '../call-scope.js';
import type { BackgroundSession, RegistryCall } from '../capabilities/capability-call.js';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';
import { PolicyAtOnce } from '../personality-policy.js';
import { copyPlain, deepFreeze } from '../plain.js';
import { CallQuotas } from '../quotas/call-quotas.js';
import { discard } from '../rejections.js';
import { checkShape, failure } from '../results/check-shape.js';
import { errorText } from '../results/error-text.js';
import { redactResult } from '../results/redact.js';
import { reduceResult } from '../results/reduce.js';
import { trimResult } from '../results/trim.js';
import { filteredOut, type RegisteredTool, unavailable } from '../tool-gates.js';
import { type ResolvedSettings, saysTheSame } from '../tool-settings.js';
import { approvalReason, joined, refusal, turnGate } from './ask-approval.js';
import { CallContext } from './call-context.js';
import { dryRunResult } from './dry-run.js';
import { type Ending, guarded, isThenable } from './guarded.js';
import { createEmit } from './progress.js';
import type { Batch, BatchInput } from './run-batch.js';
import type { Waiting } from './slots.js';
import type { Watched } from './watch.js';

/**
 * One call on its way through the registry. Each step goes on to the next at once where nothing
 * has to be waited for: a promise a step would cost more than all the steps.
 */
export class RunningCall implements Watched, Waiting {
  deadline = 0;
  readonly #batch: Batch;
  readonly #call: ToolCall;
  readonly #answer: (result: ToolResult) => void;
  #toolCallId = '';
  #entry: RegisteredTool | undefined;
  #scope: CallScope | undefined;
  /** As the model issued them. */
  #issued: unknown;
  /** As the tool's schema made them. */
  #args: unknown;
  /** What the personality sets for the tool. */
  #resolvedSettings: ResolvedSettings | undefined;
  /** What the operator says of the personality, since the call last waited. */
  #asked: PolicyAtOnce | undefined;
  /** What a yes was to. */
  #approved: Approved | undefined;
  /** Characters. */
  #budget = 0;
  #timeoutMs = 0;

  constructor(batch: Batch, call: ToolCall, answer: (result: ToolResult) => void) {
    this.#batch = batch;
    this.#call = call;
    this.#answer = answer;
  }

  start(): void {
    try {
      const refused = this.#pass();
      const answered = refused ?? this.#prepare();
      if (answered instanceof Promise) {
        answered.then(
          (result) => {
            this.#asked = undefined;
            this.#enter(result);
          },
          (error: unknown) => this.#finish(failure(errorText(error))),
        );
      } else {
        this.#enter(answered);
      }
    } catch (error) {
      // A fault of a gate or of a host's callback: the other calls go on.
      this.#finish(failure(errorText(error)));
    }
  }

  stop(why: 'timeout' | 'abort', reason: unknown): void {
    this.#end({ kind: 'stopped', why, reason });
  }

  /** The gates. Gives the refusal of the first that is closed. */
  #pass(): ToolResult | undefined {
    const { input, watch } = this.#batch;
    if (watch.aborted) return failure('the turn was aborted before this call ran');
    if (typeof this.#call !== 'object' || this.#call === null) {
      return { ok: false, code: 'input_invalid', error: 'the call is not an object' };
    }
    // Read once: it may be an object that answers otherwise the next time.
    const { toolCallId, name, args } = this.#call;
    this.#toolCallId = toolCallId;
    const entry = input.tools.get(name);
    if (entry === undefined) return notAvailable(`there is no tool ${JSON.stringify(name)}`);
    const closed = filteredOut(entry, input.filters) ?? unavailable(entry);
    if (closed !== undefined) return notAvailable(closed);
    if (entry.needsBackends && input.backends === undefined) {
      return notAvailable(
        `${entry.name} declares capabilities, and capability backends are not configured`,
      );
    }
    const copy = copyPlain(args);
    if (!copy.ok) return { ok: false, code: 'input_invalid', error: `args${copy.problem}` };
    this.#entry = entry;
    this.#issued = copy.value;
    this.#args = copy.value;
    const { timeoutMs, maxResultChars } = entry.tool;
    this.#timeoutMs =
      timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : input.options.defaultTimeoutMs;
    this.#budget = resolveCallBudget(
      input.ctx.resultBudgetChars,
      input.calls.length,
      maxResultChars,
    );
    return undefined;
  }

  /**
   * Looks for the sandbox that processes must run in, parses, and asks for approval. Gives an
   * answer where the tool is not to run.
   */
  #prepare(): ToolResult | undefined | Promise<ToolResult | undefined> {
    const missing = this.#entry?.plan.missing({ ctx: this.#batch.facts, policy: this.#policy });
    if (missing === undefined) return this.#parse();
    return missing.then((why) => {
      this.#asked = undefined;
      return why === undefined ? this.#parse() : notAvailable(why);
    });
  }

  #parse(): ToolResult | undefined | Promise<ToolResult | undefined> {
    const input = this.#entry?.tool.input;
    if (input === undefined) return this.#afterParsing();
    const ending = guarded(this.#batch.watch, this.#timeoutMs, () => input.parse(this.#args));
    if (ending instanceof Promise) {
      return ending.then((settled) => {
        this.#asked = undefined;
        return this.#afterParsing(settled);
      });
    }
    return this.#afterParsing(ending);
  }

  #afterParsing(
    ending?: Ending<{ ok: true; args: unknown } | { ok: false; error: string }>,
  ): ToolResult | undefined | Promise<ToolResult | undefined> {
    if (ending !== undefined) {
      if (ending.kind !== 'returned') return this.#unfinished(ending);
      const parsed = ending.value;
      if (!parsed.ok) return { ok: false, code: 'input_invalid', error: String(parsed.error) };
      this.#args = parsed.args;
    }
    const { tool, name, settings } = this.#entry ?? {};
    if (settings !== undefined) {
      const resolved = settings.resolve(this.#policy);
      if (!resolved.ok) return notAvailable(resolved.error);
      this.#resolvedSettings = resolved;
    }
    if (this.#batch.facts.dryRun === true) {
      return tool?.supportsDryRun === true ? undefined : dryRunResult(name ?? '', this.#args);
    }
    const answered = this.#approve();
    if (this.#batch.input.host?.beforeRun === undefined) return answered;
    if (answered instanceof Promise) return answered.then((result) => result ?? this.#announce());
    return answered ?? this.#announce();
  }

  /** Asks whoever runs the turn, and the tool, whether the call must be approved; then has it approved. */
  #approve(): ToolResult | undefined | Promise<ToolResult | undefined> {
    const entry = this.#entry;
    if (entry === undefined) return undefined;
    const gate = this.#batch.input.host?.gate;
    if (gate === undefined && entry.tool.requiresApproval === undefined) return undefined;
    const gated = gate && turnGate(() => gate(this.#gatedCall(entry)));
    if (gated !== undefined && 'refuse' in gated) return notAvailable(gated.refuse);
    const { facts, watch } = this.#batch;
    const { workingDir, sessionId, personalityId } = facts;
    const reason = approvalReason(
      entry.tool,
      this.#args,
      {
        settings: this.#settings,
        workingDir,
        sessionId,
        ...(personalityId !== undefined && { personalityId }),
      },
      { watch, timeoutMs: this.#timeoutMs },
    );
    const asked = gated?.ask;
    if (reason instanceof Promise) {
      return reason.then((why) => this.#askHost(entry, joined(asked, why)));
    }
    const why = joined(asked, reason);
    return why === undefined ? undefined : this.#askHost(entry, why);
  }

  #gatedCall({ name, tool }: RegisteredTool) {
    return { toolCallId: this.#toolCallId, name, tool };
  }

  async #askHost(
    entry: RegisteredTool,
    reason: string | undefined,
  ): Promise<ToolResult | undefined> {
    if (reason === undefined) return undefined;
    const { input, facts, watch } = this.#batch;
    const { sessionId, personalityId } = facts;
    const refused = (why: string) => notAvailable(`${entry.name} needs approval, and ${why}`);
    const approve = input.host?.approve ?? input.backends?.approve;
    if (approve === undefined) return refused('no approval callback is configured');
    const scope = this.#newScope(entry);
    // What a schema turned into class instances would be shown wrong; then what it came from is.
    const plain = copyPlain(this.#args);
    const shown = plain.ok ? plain.value : structuredClone(this.#issued);
    const capabilities = entry.plan.describe(facts, this.#policy);
    const settings = frozenCopy(this.#settings);
    const ending = await guarded(watch, Number.POSITIVE_INFINITY, () =>
      approve({
        toolCallId: this.#toolCallId,
        toolName: entry.name,
        args: deepFreeze(shown),
        capabilities,
        reason,
        ...(settings !== undefined && { settings }),
        workingDir: facts.workingDir,
        sessionId,
        ...(personalityId !== undefined && { personalityId }),
        signal: scope.signal,
      }),
    );
    if (ending.kind === 'stopped') {
      scope.abort(ending.reason);
      return refused('the turn was aborted while it waited');
    }
    const why = ending.kind === 'threw' ? 'the approval callback failed' : refusal(ending.value);
    if (why !== undefined) return refused(why);
    this.#approved = { entry, capabilities };
    return this.#sinceApproved();
  }

  /** The yes was to this tool with this reach and these settings: a refusal where they have changed. */
  #sinceApproved(): ToolResult | undefined {
    if (this.#approved === undefined) return undefined;
    this.#asked = undefined;
    if (this.#isAsApproved(this.#approved)) return undefined;
    const { name } = this.#approved.entry;
    return notAvailable(`${name} needs approval, and what it may do changed while it waited`);
  }

  #isAsApproved({ entry, capabilities }: Approved): boolean {
    const { input, facts } = this.#batch;
    try {
      return (
        input.tools.get(entry.name) === entry &&
        isDeepStrictEqual(entry.plan.describe(facts, this.#policy), capabilities) &&
        saysTheSame(entry.settings?.resolve(this.#policy), this.#resolvedSettings)
      );
    } catch {
      // A host's own backend that fails says nothing, and least of all the same.
      return false;
    }
  }

  /** Lets whoever runs the turn write down that the call begins. */
  async #announce(): Promise<ToolResult | undefined> {
    const { input, watch } = this.#batch;
    const call = {
      toolCallId: this.#toolCallId,
      name: this.#entry?.name ?? '',
      args: this.#issued,
    };
    const ending = await guarded(watch, Number.POSITIVE_INFINITY, () =>
      input.host?.beforeRun?.(call),
    );
    if (ending.kind === 'returned') return undefined;
    if (ending.kind === 'stopped') return this.#unfinished(ending);
    return failure(
      `the call did not run, since it could not be recorded: ${errorText(ending.error)}`,
    );
  }

  /** Waits for a place, unless there is an answer already. */
  #enter(answered: ToolResult | undefined): void {
    if (answered !== undefined) {
      this.#finish(answered);
      return;
    }
    this.#batch.slots.enter(this);
    // It waits for a place: what held until now may not hold when it gets one.
    if (this.#scope === undefined) this.#asked = undefined;
  }

  /** Runs the tool, now that there is a place. */
  proceed(): void {
    // It may have waited for its record and its place after the yes.
    const refused = this.#sinceApproved();
    if (refused !== undefined) {
      this.#batch.slots.release();
      this.#finish(refused);
      return;
    }
    const pending = this.#begin();
    if ('kind' in pending) {
      this.#end(pending);
      return;
    }
    const { watch } = this.#batch;
    this.deadline = watch.now() + this.#timeoutMs;
    watch.add(this);
    try {
      // A foreign thenable may lie; a real promise of its answer settles once.
      Promise.resolve(pending).then(
        (value) => this.#end({ kind: 'returned', value }),
        (error: unknown) => this.#end({ kind: 'threw', error }),
      );
    } catch (error) {
      // A promise whose own `then` throws.
      this.#end({ kind: 'threw', error });
    }
  }

  /** Calls the tool. Gives its promise, or how it ended at once. */
  #begin(): PromiseLike<ToolResult> | Ending<unknown> {
    const entry = this.#entry;
    const { watch } = this.#batch;
    // What waited for its place when the turn was aborted must not begin any more.
    if (entry === undefined || watch.aborted) {
      return { kind: 'stopped', why: 'abort', reason: watch.reason };
    }
    const { tool } = entry;
    const scope = this.#newScope(entry);
    this.#scope = scope;
    try {
      const ctx = this.#contextOf(entry, scope);
      // The reducer is shown what was asked, whatever the tool does to its arguments.
      if (this.#reducer !== undefined) this.#issued = snapshot(this.#args);
      const returned =
        tool.input === undefined ? tool.execute(this.#args, ctx) : tool.input.run(this.#args, ctx);
      return isThenable(returned) ? returned : { kind: 'returned', value: returned };
    } catch (error) {
      return { kind: 'threw', error };
    }
  }

  /** The tool has ended, or is left behind. Only the first of both counts. */
  #end(ending: Ending<unknown>): void {
    const scope = this.#scope;
    if (scope?.ended) return;
    this.#batch.watch.remove(this);
    if (ending.kind === 'stopped') scope?.abort(ending.reason ?? this.#timeoutError());
    scope?.end();
    this.#batch.slots.release();
    let result: ToolResult;
    try {
      result = this.#wayBack(ending);
    } catch (error) {
      // A fault of a host's own reducers: the batch must get its answer.
      result = trimResult(failure(errorText(error)), this.#budget);
    }
    this.#answer(result);
  }

  /** From what the tool gave to what the model reads. */
  #wayBack(ending: Ending<unknown>): ToolResult {
    let result = ending.kind === 'returned' ? checkShape(ending.value) : this.#unfinished(ending);
    const reducer = this.#reducer;
    if (reducer !== undefined) {
      const { currentTurn: turnCount } = this.#batch.facts;
      result = reduceResult(result, reducer, { args: this.#issued, turnCount });
    }
    const redactor = this.#scope?.redactor;
    return redactor === undefined
      ? trimResult(result, this.#budget)
      : redactResult(result, redactor, this.#budget);
  }

  #finish(result: ToolResult): void {
    this.#answer(this.#entry === undefined ? result : trimResult(result, this.#budget));
  }

  get #reducer() {
    return this.#batch.input.reducers?.get(this.#entry?.name ?? '');
  }

  get #settings(): unknown {
    return this.#resolvedSettings?.ok ? this.#resolvedSettings.settings : undefined;
  }

  #newScope({ name }: RegisteredTool, parent?: CallScope): CallScope {
    return new CallScope(this.#batch.journal, name, this.#toolCallId, parent);
  }

  #contextOf(entry: RegisteredTool, scope: CallScope): CallContext {
    const { name, needsBackends, plan } = entry;
    const { facts } = this.#batch;
    if (needsBackends) this.#limit(scope);
    const registry = this.#registryCall(entry, scope);
    return new CallContext(facts, {
      emit: createEmit(name, scope, this.#listener),
      resultBudgetChars: this.#budget,
      settings: this.#settings,
      accessors: needsBackends
        ? plan.bind({ ctx: facts, policy: this.#policy, scope, registry })
        : undefined,
    });
  }

  #registryCall(entry: RegisteredTool, scope: CallScope): RegistryCall {
    const { facts, input } = this.#batch;
    return {
      attachments: input.attachments,
      storage: facts.storage,
      readMtimes: facts.readMtimes,
      delegation: input.host?.delegation,
      background: () => this.#backgroundOf(entry),
      openService: () => this.#openService(entry, scope),
    };
  }

  #openService({ name, plan }: RegisteredTool, opener: CallScope): Promise<ServiceScope> {
    const { facts, input } = this.#batch;
    const { sessionId, personalityId, workingDir, networkPolicy } = facts;
    const owner = { sessionId, workingDir, ...(personalityId !== undefined && { personalityId }) };
    return input.services.open({ name, plan, owner, networkPolicy, opener });
  }

  get #listener(): BatchInput['ctx']['emit'] | undefined {
    const { ctx, host } = this.#batch.input;
    const { emit } = ctx;
    const onProgress = host?.onProgress;
    if (onProgress === undefined) return emit;
    return (event) => {
      discard(onProgress(event, this.#toolCallId));
      return emit?.(event);
    };
  }

  #backgroundOf(entry: RegisteredTool): BackgroundSession {
    const { facts, input, journal } = this.#batch;
    const { sessionId } = facts;
    return {
      find: () => input.background.find(sessionId),
      open: () => input.background.open(sessionId),
      openScope: () => {
        const scope = this.#newScope(entry, this.#scope);
        this.#limit(scope);
        return scope;
      },
      now: journal.now,
    };
  }

  #limit(scope: CallScope): void {
    const { sessionId } = this.#batch.facts;
    const { meters, host } = this.#batch.input;
    const { quotas } = this.#policy;
    if (quotas === undefined) return;
    const { meter, leave } = meters.enter(host?.quotaSession ?? sessionId);
    scope.limit(new CallQuotas(quotas, meter));
    scope.onEnd(leave);
  }

  get #policy(): PolicyAtOnce {
    const { facts, input } = this.#batch;
    this.#asked ??= new PolicyAtOnce(input.backends ?? {}, facts.personalityId);
    return this.#asked;
  }

  #unfinished(ending: Exclude<Ending<unknown>, { kind: 'returned' }>): ToolResult {
    if (ending.kind === 'threw') return failure(errorText(ending.error));
    return failure(ending.why === 'abort' ? 'the turn was aborted' : this.#timeoutError().message);
  }

  #timeoutError(): DOMException {
    const text = `${this.#entry?.name} took longer than ${this.#timeoutMs} ms`;
    return new DOMException(text, 'TimeoutError');
  }
}

/** For whoever decides; `undefined` for what is not plain. */
function frozenCopy(value: unknown): unknown {
  const copy = copyPlain(value);
  return copy.ok ? deepFreeze(copy.value) : undefined;
}

interface Approved {
  entry: RegisteredTool;
  capabilities: ResolvedGrant;
}

// What a schema makes of arguments may be beyond copying.
function snapshot(args: unknown): unknown {
  try {
    return structuredClone(args);
  } catch {
    return args;
  }
}

function notAvailable(error: string): ToolResult {
  return { ok: false, error, code: 'not_available' };
}
