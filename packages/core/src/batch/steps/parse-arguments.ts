import { errorText, isThenable } from '@ethosagent/policy';
import type { ToolInput, ToolInputResult } from '@ethosagent/types';
import type { SchemaCheck } from '../../schema-gate.js';
import type { CallState } from '../call-state.js';
import { type Ending, settled, stoppedBy } from '../guarded.js';
import { type Answer, inputInvalid, notAvailable, type Step, threw, unfinished } from './step.js';

/** Replaces the arguments by what the tool's schema parses them to. */
export const parseArguments: Step = (state) => {
  const { input } = state.entry.tool;
  return input === undefined ? checkPlain(state) : parse(state, input);
};

/** The same as `guarded`, without its closures: nearly every schema parses at once. */
function parse(state: CallState, input: ToolInput<unknown>): Answer | Promise<Answer> {
  const { watch } = state.batch;
  if (watch.aborted) return unfinished(state, stoppedBy(watch));
  let parsed: ReturnType<typeof input.parse>;
  try {
    parsed = input.parse(state.args);
  } catch (error) {
    return threw(state, error);
  }
  return isThenable(parsed) ? wait(state, parsed) : take(state, parsed);
}

async function wait(state: CallState, parsing: PromiseLike<ToolInputResult<unknown>>) {
  const ending: Ending<ToolInputResult<unknown>> = await settled(
    state.batch.watch,
    state.timeoutMs,
    parsing,
  );
  return ending.kind === 'returned' ? take(state, ending.value) : unfinished(state, ending);
}

/** Checks arguments against a plain schema, which never changes them. */
function checkPlain(state: CallState): Answer | Promise<Answer> {
  const { schemaGate } = state.entry;
  if (schemaGate === undefined) return undefined;
  try {
    const { check } = schemaGate;
    return check instanceof Promise ? judgeOnceMade(state, check) : judge(state, check);
  } catch (error) {
    return wrongSchema(state, error);
  }
}

function judgeOnceMade(state: CallState, making: Promise<SchemaCheck>): Promise<Answer> {
  return making.then(
    (made) => judge(state, made),
    (error) => wrongSchema(state, error),
  );
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

function take(state: CallState, parsed: ToolInputResult<unknown>): Answer {
  if (!parsed.ok) return inputInvalid(String(parsed.error));
  state.args = parsed.args;
  return undefined;
}
