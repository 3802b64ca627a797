import { errorText } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import { failure } from '../results/check-shape.js';
import type { SchemaCheck } from '../schema-gate.js';
import type { CallState } from './call-state.js';

/** Checks `structured` of a result against the schema that its tool declares. */
export function checkOutput(
  state: CallState,
  result: ToolResult,
): ToolResult | Promise<ToolResult> {
  const gate = state.entry.outputGate;
  if (gate === undefined || !result.ok) return result;
  const judge = (check: SchemaCheck): ToolResult => {
    const problem = check(result.structured ?? {});
    return problem === undefined
      ? result
      : failure(`the result is not what the tool says it gives: ${problem}`, 'TOOL_INVALID');
  };
  const wrong = (error: unknown): ToolResult => {
    state.thrown = { error };
    return failure(
      `the outputSchema of ${state.name} is wrong: ${errorText(error)}`,
      'TOOL_INVALID',
    );
  };
  try {
    const { check } = gate;
    return check instanceof Promise ? check.then(judge).catch(wrong) : judge(check);
  } catch (error) {
    return wrong(error);
  }
}
