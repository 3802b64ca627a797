import type { ToolResult } from '@ethosagent/types';
import { textOf } from '../access.js';
import { redactedJson } from '../results/redact.js';
import type { CallFacts } from '../turn-host.js';
import type { CallState } from './call-state.js';
import { notRecorded, recordCall } from './record-call.js';

/**
 * Records a call that has its answer. What the clock or the sink of the host throws must not keep
 * the batch from its answer.
 *
 * @param state the call
 * @param result its answer
 * @param facts what the call touched
 * @returns the answer, or a failure with `AUDIT_FAILED` if it could not be recorded
 */
export function recordAnswer(state: CallState, result: ToolResult, facts: CallFacts): ToolResult {
  try {
    return record(state, result, facts);
  } catch (error) {
    state.thrown = { error };
    return notRecorded(facts);
  }
}

/** Records nothing for a call that waits for a decision, nor for a call that was only checked. */
function record(state: CallState, result: ToolResult, facts: CallFacts): ToolResult {
  const { batch, waits, gate, approval, issued, redactions } = state;
  const { backends, host, options } = batch.input;
  const sink = backends?.audit;
  if (sink?.call === undefined || waits || host?.checksOnly !== undefined) return result;
  const { sessionId, personalityId, agentId, userScopeId, teamId, dryRun } = batch.facts;
  const { auditArguments: withArgs, auditResults: withResult } = options;
  const redactor = withArgs ? state.redactor : undefined;
  return recordCall(
    sink,
    {
      time: new Date(options.now()).toISOString(),
      sessionId,
      ...(personalityId !== undefined && { personalityId }),
      ...(agentId !== undefined && { agentId }),
      ...(userScopeId !== undefined && { userScopeId }),
      ...(teamId !== undefined && { teamId }),
      toolName: textOf(state.name),
      toolCallId: textOf(state.toolCallId),
      ...(host?.parentCallId !== undefined && { parentCallId: textOf(host.parentCallId) }),
      args: redactor === undefined ? issued : redactedJson(issued, redactor),
      ...(dryRun === true && { dryRun }),
      ...(!facts.ran && gate !== undefined && { gate }),
      ...(approval !== undefined && { approval }),
      ...(redactions > 0 && { redactions }),
    },
    { result, facts, withArgs, withResult },
  );
}
