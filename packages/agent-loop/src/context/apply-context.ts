import type {
  ContextRecord,
  ResultRecord,
  StepCall,
  StepRecord,
  UserRecord,
} from '../journal/records.js';

/** The entry that replaces the summed-up entries of a history. */
export interface SummedUp {
  /** The messages of users, the oldest first. */
  prompts: UserRecord[];
  /**
   * Answers that are never dropped: those of calls that may have run, or that were aborted or
   * refused.
   */
  notices: Notice[];
  /** The summary as the model reads it. */
  summary: string;
}

/** The parts of a step that are used here. */
interface Step {
  record: StepRecord;
  calls: { call: StepCall; result?: ResultRecord }[];
}

type Entry = UserRecord | Step | SummedUp;

export interface Notice {
  call: string;
  tool: string;
  input: Record<string, unknown>;
  output: string;
}

/** The place of an entry. The message of a user has the step 0. */
export interface Place {
  turn: number;
  step: number;
}

export function clearedText(id: string): string {
  return `[cleared; read_result("${id}") shows it]`;
}

const MAX_NOTICE_CHARS = 2_000;

/** Whether the text of a result stays visible to the model, whatever is cleared. */
export function isNotice({ cause, output }: ResultRecord): boolean {
  if (cause === 'CALL_INTERRUPTED' || cause === 'NOT_APPROVED') return true;
  // An aborted call may have done a part of its work.
  return cause === 'CALL_ABORTED' && output.length <= MAX_NOTICE_CHARS;
}

/** Clears and sums up entries of a history. Changes the array itself. */
export function applyContext(entries: Entry[], { cleared, summary }: ContextRecord): void {
  if (cleared.length > 0) clear(entries, new Set(cleared));
  if (summary === undefined) return;
  const end = entries.findIndex((entry) => isAfter(entry, summary.upTo));
  const count = end === -1 ? entries.length : end;
  entries.splice(0, count, summedUp(entries.slice(0, count), summary.text));
}

/** Combines entries into one. */
export function summedUp(entries: readonly Entry[], summary: string): SummedUp {
  return {
    prompts: entries.flatMap((entry) =>
      'prompts' in entry ? entry.prompts : 'kind' in entry ? [entry] : [],
    ),
    notices: entries.flatMap((entry) =>
      'prompts' in entry ? entry.notices : 'kind' in entry ? [] : noticesOf(entry),
    ),
    summary,
  };
}

export function placeOf(entry: Entry): Place {
  if ('prompts' in entry) return { turn: 0, step: 0 };
  if ('kind' in entry) return { turn: entry.turn, step: 0 };
  return { turn: entry.record.turn, step: entry.record.step };
}

function isAfter(entry: Entry, upTo: Place): boolean {
  const { turn, step } = placeOf(entry);
  return turn > upTo.turn || (turn === upTo.turn && step > upTo.step);
}

function noticesOf({ calls }: Step): Notice[] {
  return calls.flatMap(({ call, result }) =>
    result !== undefined && isNotice(result)
      ? [{ call: call.id, tool: call.name, input: call.input, output: result.output }]
      : [],
  );
}

function clear(entries: readonly Entry[], ids: ReadonlySet<string>): void {
  for (const entry of entries) {
    if ('prompts' in entry || 'kind' in entry) continue;
    for (const logged of entry.calls) {
      const { call, result } = logged;
      if (result !== undefined && ids.has(call.id)) logged.result = clearedResult(result);
    }
  }
}

/** A result with its text removed. */
export function clearedResult(result: ResultRecord): ResultRecord {
  const { images: _, note: __, answer: ___, ...rest } = result;
  return { ...rest, output: clearedText(result.call) };
}
