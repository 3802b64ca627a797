import { oneLine } from '@ethosagent/policy';
import type { DelegationInfo } from '@ethosagent/types';

const MAX_PROMPT_CHARS = 80;

/** The id, the state and the costs on one line. It has no text of a sub-agent. */
export function renderHead({ id, state, steps, calls, costUsd }: DelegationInfo): string {
  const cost = costUsd > 0 ? `, $${costUsd.toFixed(4)}` : '';
  return `${id}: ${state} (${count(steps, 'model call')}, ${count(calls, 'tool call')}${cost})`;
}

/** One line of a list. */
export function renderLine(info: DelegationInfo): string {
  const elsewhere = info.state === 'interrupted' ? ', or still run by another process' : '';
  return `${renderHead(info)}${elsewhere} ${oneLine(info.prompt, MAX_PROMPT_CHARS)}`;
}

/** A task with its answer. The text of the sub-agent comes last, so that it can not forge what follows it. */
export function renderResult(info: DelegationInfo): string {
  const { state, error, result } = info;
  const why = error === undefined || state === 'done' ? '' : `. ${error}`;
  const none = state === 'done' ? 'It gave no answer.' : 'There is no answer.';
  if (state === 'running') return `${renderHead(info)}. It still runs.`;
  return `${renderHead(info)}${why}\n\n${result ?? none}`;
}

/** Marks a result that has no text from outside. Without the mark, it may have some. */
export function originOf({ untrusted, result, error }: DelegationInfo): { untrusted?: false } {
  const isOwn = !untrusted || (result === undefined && error === undefined);
  return isOwn ? { untrusted: false } : {};
}

/** The structured form of a task. */
export function structuredOf(info: DelegationInfo): Record<string, unknown> {
  return { task: { ...info } };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
