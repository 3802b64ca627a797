import { causeOfAbort, errorText } from '@ethosagent/policy';
import { errorCodeOf, type FailureCause } from '@ethosagent/types';
import { copyPlain, deepFreeze } from '../../plain.js';
import { redactedJson } from '../../results/redact.js';
import { approvalReason, joined, NOT_RUN, refusal, turnGate } from '../approval-reason.js';
import type { CallState } from '../call-state.js';
import { type Ending, guarded } from '../guarded.js';
import { refuseIfChanged } from '../refuse-if-changed.js';
import { type Answer, notAvailable, type Step } from './step.js';

/**
 * Asks the owner of the turn, and the tool, whether the call must be approved, and then asks for
 * the approval.
 */
export const askApproval: Step = (state) => {
  const { batch } = state;
  const { tool } = state.entry;
  // The dry run of a tool that supports it changes nothing, so there is nothing to approve.
  if (batch.facts.dryRun === true) return undefined;
  const isOpen = tool.requiresApproval === undefined && tool.unconfined !== true;
  if (batch.input.host?.gate === undefined && state.asked === undefined && isOpen) {
    return undefined;
  }
  return ask(state);
};

function ask(state: CallState): Answer | Promise<Answer> {
  const { entry, batch, toolCallId, asked: byHost } = state;
  const { name, tool } = entry;
  const gate = batch.input.host?.gate;
  const gated = gate && turnGate(() => gate({ toolCallId, name, tool }));
  if (gated !== undefined && 'refuse' in gated) {
    return notAvailable(gated.refuse, gated.cause ?? 'NOT_APPROVED');
  }
  // Asked for now, since the policy may change while the call waits.
  state.gated = { untrusted: state.policy.untrusted };
  const reason = approvalReason(tool, state.args, {
    facts: { settings: state.settings, ...whoseCall(state) },
    watch: batch.watch,
    timeoutMs: state.timeoutMs,
    redactor: state.redactor,
  });
  const asked = joined(gated?.ask, byHost);
  if (reason instanceof Promise) {
    return reason.then((why) => {
      state.forgetPolicy();
      return askHost(state, joined(asked, why));
    });
  }
  const why = joined(asked, reason);
  return why === undefined ? undefined : askHost(state, why);
}

async function askHost(state: CallState, why: string | undefined): Promise<Answer> {
  if (why === undefined) return undefined;
  const { entry, batch, policy, redactor } = state;
  const { input, facts, watch } = batch;
  const approve = input.host?.approve ?? input.backends?.approve;
  if (approve === undefined)
    return refused(state, `no approval callback is configured, ${NOT_RUN}`);
  const scope = state.newScope();
  // A schema may have turned the arguments into class instances, which can't be shown well. Then
  // the arguments before the schema are shown.
  const plain = copyPlain(state.args);
  const asIs = plain.ok ? plain.value : structuredClone(state.issued);
  // Who decides may be outside of the host, as a client of MCP is.
  const shown = redactor === undefined ? asIs : redactedJson(asIs, redactor);
  const reason = redactor?.redact(why) ?? why;
  const capabilities = entry.plan.describe(facts, policy, state.narrowing);
  const settings = frozenCopy(state.settings);
  const { now } = input.options;
  const { parentCallId } = input.host ?? {};
  const askedAt = now();
  const ending = await guarded(watch, Number.POSITIVE_INFINITY, () =>
    approve({
      toolCallId: state.toolCallId,
      ...(parentCallId !== undefined && { parentCallId }),
      toolName: entry.name,
      args: deepFreeze(shown),
      capabilities,
      reason,
      ...(settings !== undefined && { settings }),
      ...whoseCall(state),
      signal: scope.signal,
    }),
  );
  if (ending.kind === 'stopped') {
    scope.abort(ending.reason);
    state.thrown = { error: ending.reason };
    const cause = causeOfAbort(ending.reason);
    return refused(
      state,
      'the turn was aborted while it waited, so it did not run; call it again only if it is still wanted',
      cause,
    );
  }
  if (ending.kind === 'threw') state.thrown = { error: ending.error };
  const refusing = ending.kind === 'threw' ? failure(ending.error) : refusal(ending.value);
  const approved = refusing === undefined;
  note(state, { reason, approved, decision: ending, askedAt, now: now() });
  if (refusing !== undefined) return refused(state, refusing);
  state.approved = capabilities;
  return refuseIfChanged(state);
}

/** Other errors of a host may hold what the model must not read. */
function failure(error: unknown): string {
  const isAnswer = errorCodeOf(error) === 'APPROVAL_INVALID';
  return `${isAnswer ? errorText(error) : 'the approval callback failed'}, ${NOT_RUN}`;
}

interface Decided {
  reason: string;
  approved: boolean;
  decision: Ending<unknown>;
  /** Milliseconds since the epoch, as is `now`. */
  askedAt: number;
  now: number;
}

/** Keeps how the call was decided, for the record. */
function note(state: CallState, { reason, approved, decision, askedAt, now }: Decided): void {
  const said: Record<string, unknown> = decision.kind === 'returned' ? plainOf(decision.value) : {};
  state.waits = !approved && said.waits === true;
  state.approval = {
    approved,
    reason,
    ...(typeof said.by === 'string' && { by: said.by }),
    ...(typeof said.grant === 'string' && { grant: said.grant }),
    ...(said.edited === true && { edited: true }),
    ...(typeof said.grant !== 'string' && {
      waitedMs: Math.max(0, now - (typeof said.askedAt === 'number' ? said.askedAt : askedAt)),
    }),
  };
}

/** A decision may be an object that throws when it is read. */
function plainOf(decision: unknown): Record<string, unknown> {
  try {
    const { waits, by, grant, edited, askedAt }: Record<string, unknown> = Object(decision);
    return { waits, by, grant, edited, askedAt };
  } catch {
    return {};
  }
}

function refused({ entry }: CallState, why: string, cause: FailureCause = 'NOT_APPROVED') {
  return notAvailable(`${entry.name} needs approval, and ${why}`, cause);
}

function whoseCall({ batch }: CallState) {
  const { workingDir, sessionId, personalityId } = batch.facts;
  return { workingDir, sessionId, ...(personalityId !== undefined && { personalityId }) };
}

/** A copy for whoever decides; `undefined` for a value that is not plain data. */
function frozenCopy(value: unknown): unknown {
  const copy = copyPlain(value);
  return copy.ok ? deepFreeze(copy.value) : undefined;
}
