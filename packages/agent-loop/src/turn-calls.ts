import { markUntrusted, type ShownImages, sourceOf, withEdit } from '@ethosagent/core';
import type { FailureCause, ToolResult } from '@ethosagent/types';
import type { ResultRecord } from './journal/records.js';
import type { InnerLogged, LoggedCall } from './journal/session-log.js';

const INTERRUPTED =
  'the call was interrupted before its result was known. It may have run; check before you do it again';

/** How many calls of a program are listed one by one. */
const MAX_INNER_TOLD = 20;

/** Returns the result of a call that was interrupted, so that nobody knows whether it ran. */
export function interrupted({ inner = [] }: Pick<LoggedCall, 'inner'>): ToolResult {
  return {
    ok: false,
    code: 'execution_failed',
    error: INTERRUPTED + innerText(inner),
    cause: 'CALL_INTERRUPTED',
  };
}

/** What became of the calls that the tool of this call made. */
function innerText(inner: readonly InnerLogged[]): string {
  if (inner.length === 0) return '';
  const listed = (calls: readonly InnerLogged[]) => {
    const shown = calls.slice(-MAX_INNER_TOLD).map(({ name, args }) => `${name} ${args}`);
    const more = calls.length - shown.length;
    return [...(more > 0 ? [`${more} before them`] : []), ...shown].join('; ');
  };
  const ran = inner.filter(({ hasEnded }) => hasEnded);
  const open = inner.filter(({ hasEnded }) => !hasEnded);
  return [
    ran.length > 0 ? `. The calls that it made have run: ${listed(ran)}` : '',
    open.length > 0 ? `. These calls of it may have run: ${listed(open)}` : '',
  ].join('');
}

export function notRun(why: string, cause: FailureCause): ToolResult {
  return { ok: false, code: 'not_available', error: `the call did not run: ${why}`, cause };
}

/** The answer of a call. */
export interface ToolAnswer {
  result: ToolResult;
  isMarked: boolean;
  isUntrusted: boolean;
  /** Whether the tool ran and its result is the answer of the turn, without the model. */
  isAnswer?: boolean;
  /** The untrusted source, if it is known. */
  from?: string;
  /** Tools that the model is told about from now on. */
  found?: string[];
}

/** A result as it is stored, and as the model reads it. */
export function resultRecord(
  turn: number,
  logged: LoggedCall,
  { result: given, images = [], note = '', ...options }: ToolAnswer & Partial<ShownImages>,
): ResultRecord {
  const { call, edited } = logged;
  const result = edited === undefined ? given : withEdit(given, edited);
  const text = result.ok ? result.value : `${result.code}: ${result.error}`;
  const costUsd = result.ok ? result.cost_usd : undefined;
  return {
    kind: 'result',
    turn,
    call: call.id,
    output: options.isMarked
      ? markUntrusted(text, { source: sourceOf(call.name, edited ?? call.input), tool: call.name })
      : text.toWellFormed(),
    ok: result.ok,
    ...(!result.ok && { code: result.code }),
    ...(!result.ok && result.cause !== undefined && { cause: result.cause }),
    ...(costUsd !== undefined && Number.isFinite(costUsd) && costUsd > 0 && { costUsd }),
    ...(images.length > 0 && { images }),
    ...(note !== '' && { note }),
    ...(options.isUntrusted && { untrusted: true }),
    ...(options.isAnswer === true && given.ok && { answer: given.value.toWellFormed() }),
    ...(options.isUntrusted && options.from !== undefined && { from: options.from }),
    ...(options.found !== undefined && options.found.length > 0 && { found: options.found }),
  };
}
