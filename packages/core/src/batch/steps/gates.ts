import { missingToolText, resolveCallBudget } from '@ethosagent/policy';
import type { FailureCause } from '@ethosagent/types';
import { copyPlain } from '../../plain.js';
import { filteredOut, unavailable } from '../../tool-gates.js';
import type { CallState } from '../call-state.js';
import { type Answer, inputInvalid, notAvailable, type Step, stopped } from './step.js';

const NO_CALL = 'the call is not an object with toolCallId, name and args';

/**
 * Reads the call once: it may be an object that answers differently when it is read again. A call
 * that was aborted is read too, for its record.
 */
export const readCall: Step = (state) => {
  const { watch } = state.batch;
  const unreadable = read(state);
  return watch.aborted ? stopped(state, { why: 'abort', reason: watch.reason }) : unreadable;
};

function read(state: CallState): Answer {
  const { call } = state;
  if (typeof call !== 'object' || call === null) {
    return inputInvalid(NO_CALL);
  }
  const { toolCallId, name, args } = call;
  state.toolCallId = toolCallId;
  if (typeof name !== 'string') return inputInvalid(NO_CALL);
  state.name = name;
  state.issued = args;
  return undefined;
}

/** Gives the answer that the owner of the turn already has for the call. */
export const answerByHost: Step = (state) => {
  const { toolCallId, name, batch } = state;
  const answer = batch.input.host?.answers?.({ toolCallId, name });
  if (answer?.approval !== undefined) state.approval = answer.approval;
  return answer?.result;
};

export const findTool: Step = (state) => {
  const entry = state.batch.input.tools.get(state.name);
  if (entry === undefined) {
    return notAvailable(missingToolText(state.name, offered(state)), 'TOOL_NOT_FOUND');
  }
  state.entry = entry;
  return undefined;
};

/** The names of the tools that the model was offered. */
function* offered({ batch }: CallState): Iterable<string> {
  const { tools, filters } = batch.input;
  for (const [name, entry] of tools) {
    if (filteredOut(entry, filters) === undefined && unavailable(entry) === undefined) yield name;
  }
}

/** The allow list, and the filters of MCP servers and plugins. */
export const applyFilters: Step = ({ entry, batch }) =>
  refused(filteredOut(entry, batch.input.filters), 'TOOL_NOT_ALLOWED');

export const checkAvailability: Step = (state) =>
  state.entry.tool.isAvailable === undefined ? undefined : askAvailability(state);

function askAvailability(state: CallState) {
  const why = unavailable(state.entry, (error) => {
    state.thrown = { error };
  });
  return refused(why, 'TOOL_UNAVAILABLE');
}

export const requireBackends: Step = ({ entry, batch }) => {
  if (!entry.needsBackends || batch.input.backends !== undefined) return undefined;
  return notAvailable(
    `${entry.name} did not run: it declares capabilities, and capability backends are not configured; go on without it, and tell the user`,
    'TOOL_UNAVAILABLE',
  );
};

/**
 * Copies the arguments, so that nobody else can change them. From here on a result is cut at its
 * budget.
 */
export const copyArguments: Step = (state) => {
  const { input } = state.batch;
  const copy = copyPlain(state.issued);
  if (!copy.ok) return inputInvalid(`args${copy.problem}`);
  state.issued = copy.value;
  state.args = copy.value;
  const { timeoutMs, maxResultChars } = state.entry.tool;
  const hasOwn = timeoutMs !== undefined && timeoutMs > 0;
  state.timeoutMs = hasOwn ? timeoutMs : input.options.defaultTimeoutMs;
  state.budgetChars = resolveCallBudget(
    input.ctx.resultBudgetChars,
    input.calls.length,
    maxResultChars,
  );
  return undefined;
};

function refused(why: string | undefined, cause: FailureCause) {
  return why === undefined ? undefined : notAvailable(why, cause);
}
