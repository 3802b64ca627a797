import type { AuditApproval, ToolCall, UntrustedPolicy } from '@ethosagent/types';
import type { CallNarrowing } from '../call-narrowing.js';
import { CallScope } from '../call-scope.js';
import { CallTaint } from '../call-taint.js';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';
import { PolicyAtOnce } from '../personality-policy.js';
import type { SecretRedactor } from '../results/redact.js';
import type { RegisteredTool } from '../tool-gates.js';
import type { ResolvedSettings } from '../tool-settings.js';
import type { Batch } from './batch.js';

/** What a model is told of a call that was stopped while its tool ran. */
export const PARTLY_DONE =
  'it may have done part of its work, so check what it did before you call it again';

/** What the steps of one call have found out so far. */
export class CallState {
  readonly batch: Batch;
  /** The place of the call in the batch. */
  readonly index: number;
  /**
   * The call as the host gave it. It may be anything, and may answer differently when it is read
   * again.
   */
  readonly call: ToolCall | undefined;
  toolCallId = '';
  name = '';
  /** A copy of the arguments that the model issued. */
  issued: unknown;
  /** The arguments that a reducer is shown. */
  shown: unknown;
  /** The arguments as the tool's schema parsed them. */
  args: unknown;
  /** What the personality sets for the tool. */
  resolvedSettings: ResolvedSettings | undefined;
  /** What the personality said about untrusted content when it was decided whether to ask. */
  gated: { readonly untrusted: UntrustedPolicy | undefined } | undefined;
  /** What the call may reach by the yes that it got. */
  approved: ResolvedGrant | undefined;
  /** Where its programs may write, as it was recorded. */
  unseenWrites: readonly string[] | undefined;
  /** How the approval of the call was decided. */
  approval: AuditApproval | undefined;
  /** Why the host's `beforeCall` wants it approved. */
  asked: string | undefined;
  /** How the host's `beforeCall` narrowed the reach. */
  narrowing: CallNarrowing | undefined;
  /** Whether the call waits for a decision. Then it has no answer yet. */
  waits = false;
  /** The gate that answered. */
  gate: string | undefined;
  /** The error behind a failure of the call, for the host. */
  thrown: { readonly error: unknown } | undefined;
  /** In how many places of its result a secret was replaced. */
  redactions = 0;
  /** Tells other processes what the session used, where they share its counts. */
  shareUse: (() => Promise<void>) | undefined;
  /** The scope of the running call. */
  scope: CallScope | undefined;
  /** The taint of the running call. */
  taint: CallTaint | undefined;
  /** The most characters that the result may have. Known once the call has passed the gates. */
  budgetChars: number | undefined;
  /** Milliseconds that whatever the call waits for may take. The tool's own once it is known. */
  timeoutMs: number;
  /** Whether the call has waited since it began. */
  hasWaited = false;
  /** Whether the tool has begun. */
  ran = false;
  /** When it began. Only set where somebody is told how long the call took. */
  startedAt = 0;
  /**
   * The tool of the call. It stays, even if another tool takes its name. The second step finds it
   * or ends the way.
   */
  entry!: RegisteredTool;
  #policy: PolicyAtOnce | undefined;

  constructor(batch: Batch, index: number) {
    this.batch = batch;
    this.index = index;
    this.call = batch.input.calls[index];
    this.timeoutMs = batch.input.options.defaultTimeoutMs;
  }

  get settings(): unknown {
    return this.resolvedSettings?.ok ? this.resolvedSettings.settings : undefined;
  }

  /** Takes the secrets out of the result and the record of the call; `undefined` without secrets. */
  get redactor(): SecretRedactor | undefined {
    return this.scope === undefined ? this.batch.journal.secrets?.() : this.scope.redactor;
  }

  /** The operator's policy of the personality. It is asked for again after each wait. */
  get policy(): PolicyAtOnce {
    const { facts, input } = this.batch;
    this.#policy ??= new PolicyAtOnce(input.backends ?? {}, facts.personalityId);
    return this.#policy;
  }

  /** Called after a wait: the operator may have changed the policy meanwhile. */
  forgetPolicy(): void {
    this.#policy = undefined;
    this.hasWaited = true;
  }

  /** Made when it is known which tool runs, and before the tool runs. */
  taintOf(): CallTaint {
    const { batch, entry } = this;
    const { host, taints } = batch.input;
    const { tool, name } = entry;
    this.taint ??= new CallTaint({
      session: host?.isTainted ?? taints.hasSession(batch.facts.sessionId),
      output: tool.outputIsUntrusted ?? tool.unconfined === true,
      hasServiceRead: () => taints.hasServiceOf(name),
      isSeen: entry.plan.isSeen && tool.unconfined !== true && entry.mcpServer === undefined,
      watch: host?.watchSources?.({ name, tool }),
    });
    return this.taint;
  }

  /** @param parent the call, for a scope that outlives it */
  newScope(parent?: CallScope): CallScope {
    const { batch, entry, toolCallId } = this;
    const { name, needsBackends } = entry;
    const asks = needsBackends || batch.input.host?.watchSources !== undefined;
    const taint = asks ? this.taintOf() : undefined;
    const isDryRun = batch.facts.dryRun === true;
    return new CallScope(batch.journal, { toolName: name, toolCallId, parent, taint, isDryRun });
  }

  get timeoutError(): DOMException {
    const { name, timeoutMs, scope } = this;
    const text =
      scope === undefined
        ? `${name} did not run: the checks before it took longer than ${timeoutMs} ms; try again once, then tell the user`
        : `${name} took longer than ${timeoutMs} ms and was stopped; ${PARTLY_DONE}`;
    return new DOMException(text, 'TimeoutError');
  }
}
