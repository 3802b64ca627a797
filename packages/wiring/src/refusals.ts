import type { FailureCause, ToolCall, ToolCallResult } from '@ethosagent/types';

/** Refuses every call for the same reason. */
export function refuseAll(
  calls: readonly ToolCall[],
  error: string,
  cause: FailureCause,
): ToolCallResult[] {
  return calls.map((call, index) => malformed(call, index) ?? refuse(call, cause, error));
}

/** The answer to something that is not a call. */
export function malformed(call: ToolCall, index: number): ToolCallResult | undefined {
  if (typeof Object(call).name === 'string') return undefined;
  return refuse(
    Object(call),
    'INPUT_INVALID',
    `call ${index + 1} is not an object with toolCallId, name and args`,
  );
}

/** The answer to a call of a withheld tool, if there is a reason for it. */
export function heldBack(
  call: ToolCall,
  why: string | undefined,
  cause: 'CONFIG_INVALID' | 'TOOL_NOT_FOUND' | 'TOOL_UNAVAILABLE',
): ToolCallResult | undefined {
  return why === undefined ? undefined : refuse(call, cause, why);
}

/** The answer to a call of a tool that its turn does not include. */
export function leftOut(
  call: ToolCall,
  tools: readonly string[] | undefined,
): ToolCallResult | undefined {
  if (tools === undefined || tools.includes(call.name)) return undefined;
  return refuse(
    call,
    'TOOL_NOT_ALLOWED',
    `${call.name} is not among the tools of this turn; use another tool`,
  );
}

function refuse(
  { toolCallId, name }: ToolCall,
  cause: FailureCause,
  error: string,
): ToolCallResult {
  const code = cause === 'INPUT_INVALID' ? 'input_invalid' : 'not_available';
  return { toolCallId, name, result: { ok: false, code, error, cause } };
}
