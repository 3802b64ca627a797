import { oneLine } from '@ethosagent/policy';
import type { AuditCall, AuditEvent } from '@ethosagent/types';
import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { TimedAccess } from './access-log.js';
import { ETHOS, GEN_AI } from './conventions.js';
import { knownToolName } from './known-tool-name.js';

interface CallSpanParts {
  tracer: Tracer;
  accesses: readonly TimedAccess[];
  /** The context of the turn that the call belongs to. If absent, the active context. */
  parent: Context | undefined;
  withArguments: boolean;
  withResults: boolean;
}

const MAX_TEXT = 1_000;

/**
 * Records a call that has ended, with its accesses. If the framework has its own span for this call
 * and it is active, that span gets the attributes.
 */
export function recordCallSpan(call: AuditCall, parts: CallSpanParts): void {
  const { tracer, accesses, parent } = parts;
  const end = Date.parse(call.time);
  const attributes = callAttributes(call, parts);
  const active = trace.getActiveSpan();
  if (active !== undefined && isSpanOfTool(active)) {
    active.setAttributes(attributes);
    recordAccesses(accesses, { tracer, parent: context.active() });
    return;
  }
  const under = parent ?? context.active();
  const span = tracer.startSpan(
    `execute_tool ${knownToolName(call)}`,
    { startTime: end - call.durationMs, attributes },
    under,
  );
  if (call.outcome !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR });
  recordAccesses(accesses, { tracer, parent: trace.setSpan(under, span) });
  span.end(end);
}

/** Whether a span is one that another library has created for this call. */
function isSpanOfTool(span: Span): boolean {
  const { attributes }: { attributes?: Attributes } = Object(span);
  return (
    attributes?.[GEN_AI.operation] === 'execute_tool' ||
    attributes?.['ai.operationId'] === 'ai.toolCall'
  );
}

function recordAccesses(
  accesses: readonly TimedAccess[],
  { tracer, parent }: { tracer: Tracer; parent: Context },
): void {
  for (const { event, durationMs = 0 } of accesses) {
    const start = Date.parse(event.time);
    const span = tracer.startSpan(
      `${event.capability} ${event.operation}`,
      { startTime: start, attributes: accessAttributes(event) },
      parent,
    );
    if (event.decision === 'denied') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(start + durationMs);
  }
}

function callAttributes(
  call: AuditCall,
  { withArguments, withResults }: Pick<CallSpanParts, 'withArguments' | 'withResults'>,
): Attributes {
  const { approval, outcome, cause } = call;
  return {
    [GEN_AI.operation]: 'execute_tool',
    [GEN_AI.tool]: oneLine(call.toolName, MAX_TEXT),
    [GEN_AI.toolType]: 'function',
    [GEN_AI.toolCall]: call.toolCallId,
    [GEN_AI.conversation]: call.sessionId,
    [GEN_AI.agentName]: call.personalityId,
    [GEN_AI.agentId]: call.agentId,
    [GEN_AI.errorType]: outcome === 'ok' ? undefined : (cause ?? outcome),
    [ETHOS.outcome]: outcome,
    [ETHOS.cause]: cause,
    [ETHOS.gate]: call.gate,
    [ETHOS.dryRun]: call.dryRun,
    [ETHOS.argsDigest]: call.argsDigest,
    [ETHOS.bytes]: call.bytes,
    [ETHOS.redactions]: call.redactions,
    [ETHOS.cost]: call.costUsd,
    [ETHOS.approved]: approval?.approved,
    [ETHOS.approvalReason]: approval && oneLine(approval.reason, MAX_TEXT),
    [ETHOS.approvedBy]: approval?.by,
    [ETHOS.edited]: approval?.edited,
    [ETHOS.grant]: approval?.grant,
    [ETHOS.waited]: approval?.waitedMs === undefined ? undefined : approval.waitedMs / 1_000,
    [GEN_AI.toolArguments]:
      withArguments && call.args !== undefined ? JSON.stringify(call.args) : undefined,
    [GEN_AI.toolResult]: withResults ? call.result : undefined,
  };
}

function accessAttributes(event: AuditEvent): Attributes {
  return {
    [GEN_AI.conversation]: event.sessionId,
    [GEN_AI.tool]: event.toolName,
    [GEN_AI.toolCall]: event.toolCallId,
    [ETHOS.capability]: event.capability,
    [ETHOS.accessOperation]: event.operation,
    [ETHOS.target]: oneLine(event.target, MAX_TEXT),
    [ETHOS.decision]: event.decision,
    [ETHOS.reason]: oneLine(event.reason, MAX_TEXT),
    [ETHOS.declared]: event.why && oneLine(event.why.declared, MAX_TEXT),
    [ETHOS.policy]: event.why?.policy.map((line) => oneLine(line, MAX_TEXT)),
  };
}
