import { causeOfResult, errorText, isObject, isToolErrorCode } from '@ethosagent/policy';
import type { FailureCause, ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';

/** Copies whatever a tool returned to a result of the documented shape. Never throws. */
export function checkShape(returned: unknown): ToolResult {
  try {
    return readResult(returned);
  } catch (error) {
    return failure(
      `the tool returned a result that can not be read: ${errorText(error)}`,
      'TOOL_INVALID',
    );
  }
}

/** The result of a call that failed while it ran, or before it could run. */
export function failure(error: string, cause?: FailureCause): ToolResult {
  return { ok: false, error, code: 'execution_failed', ...(cause !== undefined && { cause }) };
}

function readResult(returned: unknown): ToolResult {
  if (typeof returned !== 'object' || returned === null || !('ok' in returned)) {
    return failure(`the tool returned ${kindOf(returned)} and not a ToolResult`, 'TOOL_INVALID');
  }
  const { ok } = returned;
  if (ok === true) {
    const value = 'value' in returned ? returned.value : undefined;
    if (typeof value !== 'string') {
      return failure(
        `the tool returned a ToolResult whose value is ${kindOf(value)}, not a string`,
        'TOOL_INVALID',
      );
    }
    const structured = 'structured' in returned ? returned.structured : undefined;
    const cost = 'cost_usd' in returned ? returned.cost_usd : undefined;
    const result: ToolResult = { ok: true, value };
    if (isObject(structured)) result.structured = copyRecord(structured);
    if (typeof cost === 'number' && Number.isFinite(cost)) result.cost_usd = cost;
    if ('untrusted' in returned && returned.untrusted === false) result.untrusted = false;
    return result;
  }
  if (ok === false) {
    const error = 'error' in returned ? returned.error : undefined;
    const code = 'code' in returned ? returned.code : undefined;
    const cause = causeOfResult('cause' in returned ? returned.cause : undefined);
    return {
      ok: false,
      error: typeof error === 'string' ? error : 'the tool failed and gave no reason',
      code: isToolErrorCode(code) ? code : 'execution_failed',
      ...(cause !== undefined && { cause }),
    };
  }
  return failure(
    'the tool returned a ToolResult whose ok is neither true nor false',
    'TOOL_INVALID',
  );
}

function copyRecord(record: Record<string, unknown>): Record<string, unknown> {
  const copy = copyPlain(record);
  if (!copy.ok) throw new TypeError(`structured${copy.problem}`);
  return isObject(copy.value) ? copy.value : {};
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
