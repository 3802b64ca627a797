import { oneLine } from '@ethosagent/policy';
import type { DelegationInfo } from '@ethosagent/types';

const MAX_PROMPT_CHARS = 80;

/** The id, how it stands, and what it took, on one line that holds nothing a sub-agent wrote. */
export function renderHead({ id, state, steps, calls, costUsd }: DelegationInfo): string {
  const cost = costUsd > 0 ? `, $${costUsd.toFixed(4)}` : '';
  return `${id}: ${state} (${count(steps, 'model call')}, ${count(calls, 'tool call')}${cost})`;
}

/** One line of a list. */
export function renderLine(info: DelegationInfo): string {
  const elsewhere = info.state === 'interrupted' ? ', or still run by another process' : '';
  return `${renderHead(info)}${elsewhere} ${oneLine(info.prompt, MAX_PROMPT_CHARS)}`;
}

/** A task with its answer. What the sub-agent wrote comes last: nothing that follows could be forged. */
export function renderResult(info: DelegationInfo): string {
  const { state, error, result } = info;
  const why = error === undefined || state === 'done' ? '' : `. ${error}`;
  const none = state === 'done' ? 'It gave no answer.' : 'There is no answer.';
  if (state === 'running') return `${renderHead(info)}. It still runs.`;
  return `${renderHead(info)}${why}\n\n${result ?? none}`;
}

/** What a result of a task says of who wrote it: nothing of it came from outside, or that is open. */
export function originOf({ untrusted, result, error }: DelegationInfo): { untrusted?: false } {
  const isOwn = !untrusted || (result === undefined && error === undefined);
  return isOwn ? { untrusted: false } : {};
}

/** For programs. */
export function structuredOf(info: DelegationInfo): Record<string, unknown> {
  return { task: { ...info } };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
