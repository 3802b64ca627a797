import { oneLine } from '@ethosagent/policy';
import type { DelegationInfo } from '@ethosagent/types';

const MAX_PROMPT_CHARS = 80;

/** Renders the id, the state and the costs on one line, without any text of the sub-agent. */
export function renderHead({ id, state, steps, calls, costUsd }: DelegationInfo): string {
  const cost = costUsd > 0 ? `, $${costUsd.toFixed(4)}` : '';
  return `${id}: ${state} (${count(steps, 'model call')}, ${count(calls, 'tool call')}${cost})`;
}

/** Renders a task as one line of a list. */
export function renderLine(info: DelegationInfo): string {
  const elsewhere = info.state === 'interrupted' ? ', or still run by another process' : '';
  return `${renderHead(info)}${elsewhere} ${oneLine(info.prompt, MAX_PROMPT_CHARS)}`;
}

/**
 * Renders a task with its answer. The text of the sub-agent comes last, so that it can't forge text
 * of the framework after it.
 */
export function renderResult(info: DelegationInfo): string {
  const { state, error, result } = info;
  const why = error === undefined || state === 'done' ? '' : `. ${error}`;
  const none = state === 'done' ? 'It gave no answer.' : 'There is no answer.';
  if (state === 'running') return `${renderHead(info)}. It still runs.`;
  return `${renderHead(info)}${why}\n\n${result ?? none}`;
}

/** Marks a result as trusted when it has no untrusted text of the sub-agent. */
export function originOf({ untrusted, result, error }: DelegationInfo): { untrusted?: false } {
  const isOwn = !untrusted || (result === undefined && error === undefined);
  return isOwn ? { untrusted: false } : {};
}

/** Returns the `structured` value of a result about a task. */
export function structuredOf(info: DelegationInfo): Record<string, unknown> {
  return { task: { ...info } };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
