import { createHash } from 'node:crypto';
import { canonicalJson, discard, isThenable } from '@ethosagent/policy';
import type { AuditCall, AuditSink, ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';
import { failure } from '../results/check-shape.js';
import { auditImages } from '../results/given-images.js';
import { modelText } from '../session/mark-result.js';
import type { CallFacts } from '../turn-host.js';

/** The facts about a call that has its answer. */
export type CallRecord = Omit<
  AuditCall,
  'kind' | 'argsDigest' | 'outcome' | 'cause' | 'durationMs' | 'bytes' | 'images' | 'costUsd'
>;

/**
 * Records a call. If that fails, the failure replaces the answer.
 *
 * @param sink where it is recorded
 * @param call the facts; `args` as the model issued them
 * @param options the result, what the call touched, and whether arguments and result are recorded
 * as well
 * @returns the result, or a failure with `AUDIT_FAILED` if it could not be recorded
 */
export function recordCall(
  sink: AuditSink,
  call: CallRecord & { args: unknown },
  {
    result,
    facts,
    withArgs,
    withResult,
  }: { result: ToolResult; facts: CallFacts; withArgs: boolean; withResult: boolean },
): ToolResult {
  const { args, ...known } = call;
  const text = modelText(result);
  const cost = result.ok ? result.cost_usd : undefined;
  const images = auditImages(result);
  const event: AuditCall = {
    kind: 'call',
    ...known,
    argsDigest: digestOf(args),
    ...(withArgs && { args: recordable(args) }),
    outcome: result.ok ? 'ok' : result.code,
    ...(!result.ok && result.cause !== undefined && { cause: result.cause }),
    durationMs: Math.round(facts.durationMs),
    bytes: Buffer.byteLength(text),
    ...(withResult && { result: text }),
    ...(images.length > 0 && { images }),
    ...(cost !== undefined && Number.isFinite(cost) && { costUsd: cost }),
  };
  try {
    const returned: unknown = sink.call?.(event);
    if (!isThenable(returned)) return result;
    discard(returned);
    throw new TypeError('an audit sink records before it returns; this one returned a promise');
  } catch {
    return notRecorded(facts);
  }
}

/** The result that replaces an answer whose call could not be recorded. */
export function notRecorded({ ran }: Pick<CallFacts, 'ran'>): ToolResult {
  return failure(
    ran
      ? 'AUDIT_FAILED: the call has run and could not be recorded, so its answer is withheld; tell the user that the audit failed, and check what the call did before you make it again'
      : 'AUDIT_FAILED: the call did not run, because it could not be recorded; tell the user that the audit failed',
    'AUDIT_FAILED',
  );
}

/**
 * The arguments as a log can hold them. Those that are no plain data are `null`: a sink would fail,
 * and nothing would be recorded of the call.
 */
function recordable(args: unknown): unknown {
  const copy = copyPlain(args);
  return copy.ok ? (copy.value ?? null) : null;
}

function digestOf(args: unknown): string {
  let text: string;
  try {
    text = canonicalJson(args);
  } catch {
    // Arguments that are not JSON are refused; the record only says what type they had.
    text = String(typeof args);
  }
  return createHash('sha256').update(text).digest('hex');
}
