import { errorText } from '@ethosagent/policy';
import { TOOL_ERROR_CODES, type ToolErrorCode, type ToolResult } from '@ethosagent/types';
import { copyPlain } from '../plain.js';

/** A result of the documented shape, copied from whatever a tool returned. Never throws. */
export function checkShape(returned: unknown): ToolResult {
  try {
    return readResult(returned);
  } catch (error) {
    return failure(`the tool returned a result that can not be read: ${errorText(error)}`);
  }
}

/** A failure of the tool itself. */
export function failure(error: string): ToolResult {
  return { ok: false, error, code: 'execution_failed' };
}

function readResult(returned: unknown): ToolResult {
  if (typeof returned !== 'object' || returned === null || !('ok' in returned)) {
    return failure(`the tool returned ${kindOf(returned)} and not a ToolResult`);
  }
  const { ok } = returned;
  if (ok === true) {
    const value = 'value' in returned ? returned.value : undefined;
    if (typeof value !== 'string') {
      return failure(
        `the tool returned a ToolResult whose value is ${kindOf(value)}, not a string`,
      );
    }
    const structured = 'structured' in returned ? returned.structured : undefined;
    const cost = 'cost_usd' in returned ? returned.cost_usd : undefined;
    const result: ToolResult = { ok: true, value };
    if (isRecord(structured)) result.structured = copyRecord(structured);
    if (typeof cost === 'number' && Number.isFinite(cost)) result.cost_usd = cost;
    if ('untrusted' in returned && returned.untrusted === false) result.untrusted = false;
    return result;
  }
  if (ok === false) {
    const error = 'error' in returned ? returned.error : undefined;
    const code = 'code' in returned ? returned.code : undefined;
    return {
      ok: false,
      error: typeof error === 'string' ? error : 'the tool failed and gave no reason',
      code: isToolErrorCode(code) ? code : 'execution_failed',
    };
  }
  return failure('the tool returned a ToolResult whose ok is neither true nor false');
}

function copyRecord(record: Record<string, unknown>): Record<string, unknown> {
  const copy = copyPlain(record);
  if (!copy.ok) throw new TypeError(`structured${copy.problem}`);
  return isRecord(copy.value) ? copy.value : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isToolErrorCode(code: unknown): code is ToolErrorCode {
  return typeof code === 'string' && Object.hasOwn(TOOL_ERROR_CODES, code);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
