import type { AuditApproval, ToolCall } from '@ethosagent/types';
import type { CallNarrowing } from '../call-narrowing.js';
import { CallScope } from '../call-scope.js';
import { CallTaint } from '../call-taint.js';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';
import { PolicyAtOnce } from '../personality-policy.js';
import type { RegisteredTool } from '../tool-gates.js';
import type { ResolvedSettings } from '../tool-settings.js';
import type { Batch } from './batch.js';

/** What a yes was to. */
export interface Approved {
  entry: RegisteredTool;
  capabilities: ResolvedGrant;
}

/** What the steps of one call have found out so far. */
export class CallState {
  readonly batch: Batch;
  /** As the host passed it on: it may be anything, and answer otherwise the next time. */
  readonly call: ToolCall | undefined;
  toolCallId = '';
  name = '';
  /** A copy of what the model issued. */
  issued: unknown;
  /** What a reducer is shown of them. */
  shown: unknown;
  /** As the tool's schema made them of that. */
  args: unknown;
  /** What the personality sets for the tool. */
  resolvedSettings: ResolvedSettings | undefined;
  approved: Approved | undefined;
  /** How it was decided on. */
  approval: AuditApproval | undefined;
  /** Why the host's `beforeCall` wants it approved. */
  asked: string | undefined;
  /** What it leaves of the reach. */
  narrowing: CallNarrowing | undefined;
  /** It waits for a decision: it has no answer yet. */
  waits = false;
  /** The gate that answered. */
  gate: string | undefined;
  /** The error behind its failure, for the host. */
  thrown: { readonly error: unknown } | undefined;
  /** In how many places of its result a secret was replaced. */
  redactions = 0;
  /** Tells other processes what its session used, where its counts are shared. */
  shareUse: (() => Promise<void>) | undefined;
  /** Of the call that runs. */
  scope: CallScope | undefined;
  /** Of the call that runs. */
  taint: CallTaint | undefined;
  /** Characters of the result; known once the gates have let the call in. */
  budgetChars: number | undefined;
  timeoutMs = 0;
  /** The tool, whatever has its name now. The second step finds it, or ends the way. */
  entry!: RegisteredTool;
  #policy: PolicyAtOnce | undefined;

  constructor(batch: Batch, call: ToolCall | undefined) {
    this.batch = batch;
    this.call = call;
  }

  get settings(): unknown {
    return this.resolvedSettings?.ok ? this.resolvedSettings.settings : undefined;
  }

  /** What the operator says of the personality, since the call last waited. */
  get policy(): PolicyAtOnce {
    const { facts, input } = this.batch;
    this.#policy ??= new PolicyAtOnce(input.backends ?? {}, facts.personalityId);
    return this.#policy;
  }

  /** After a wait: what the operator said before it may no longer hold. */
  forgetPolicy(): void {
    this.#policy = undefined;
  }

  /** Asked for once it is known which tool runs, and before it does. */
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

  /** @param parent the call, of what outlives it */
  newScope(parent?: CallScope): CallScope {
    const { batch, entry, toolCallId } = this;
    const { name, needsBackends } = entry;
    const asks = needsBackends || batch.input.host?.watchSources !== undefined;
    const taint = asks ? this.taintOf() : undefined;
    return new CallScope(batch.journal, { toolName: name, toolCallId, parent, taint });
  }

  get timeoutError(): DOMException {
    const text = `${this.name} took longer than ${this.timeoutMs} ms`;
    return new DOMException(text, 'TimeoutError');
  }
}
