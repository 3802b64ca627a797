import { errorText } from '@ethosagent/policy';
import type { ToolInputResult } from '@ethosagent/types';
import type { SchemaCheck } from '../../schema-gate.js';
import type { CallState } from '../call-state.js';
import { type Ending, guarded } from '../guarded.js';
import { type Answer, inputInvalid, notAvailable, type Step, unfinished } from './step.js';

/** Makes of the arguments what the schema of the tool makes of them. */
export const parseArguments: Step = (state) => {
  const { input } = state.entry.tool;
  if (input === undefined) return checkPlain(state);
  const ending = guarded(state.batch.watch, state.timeoutMs, () => input.parse(state.args));
  if (ending instanceof Promise) return ending.then((settled) => take(state, settled));
  return take(state, ending);
};

/** Arguments of a plain schema stay as they are; they fit, or the call does not run. */
function checkPlain(state: CallState): Answer | Promise<Answer> {
  const { schemaGate } = state.entry;
  if (schemaGate === undefined) return undefined;
  try {
    const { check } = schemaGate;
    return check instanceof Promise
      ? check.then(
          (made) => judge(state, made),
          (error) => wrongSchema(state, error),
        )
      : judge(state, check);
  } catch (error) {
    return wrongSchema(state, error);
  }
}

function judge({ args }: CallState, check: SchemaCheck): Answer {
  const problem = check(args === undefined ? {} : args);
  return problem === undefined ? undefined : inputInvalid(problem);
}

function wrongSchema(state: CallState, error: unknown): Answer {
  state.thrown = { error };
  return notAvailable(
    `the schema of ${state.name} is wrong, so that no arguments can be checked: ${errorText(error)}; its author has to fix it, or to say validateSchema: false`,
    'TOOL_INVALID',
  );
}

function take(state: CallState, ending: Ending<ToolInputResult<unknown>>): Answer {
  if (ending.kind !== 'returned') return unfinished(state, ending);
  const parsed = ending.value;
  if (!parsed.ok) return inputInvalid(String(parsed.error));
  state.args = parsed.args;
  return undefined;
}
