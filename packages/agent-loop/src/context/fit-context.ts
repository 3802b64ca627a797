import type { ContextRecord } from '../journal/records.js';
import type { LoggedEntry, SessionLog } from '../journal/session-log.js';
import { modelMessages } from '../model/messages.js';
import { type Outcome, overContext } from '../outcome.js';
import { clearedText, isNotice, summedUp } from './apply-context.js';
import type { ContextPlan } from './context-plan.js';
import {
  correction,
  messageTokens,
  type Prompt,
  promptTokens,
  resultTokens,
  textTokens,
} from './estimate.js';
import { READ_RESULT_DEFINITION } from './read-result.js';
import { type Summarising, summarise } from './summarise.js';

/** The prompt of a turn can't be made small enough. */
export class ContextFull extends Error {
  override name = 'ContextFull';
  readonly outcome: Outcome;

  constructor(tokens: number, plan: ContextPlan) {
    const outcome = overContext(Math.ceil(tokens), plan);
    super(outcome.message);
    this.outcome = outcome;
  }
}

export interface FitParts extends Pick<Summarising, 'ask' | 'usageOf' | 'images'> {
  plan: ContextPlan;
  log: SessionLog;
  /** The session has read untrusted content, in this turn or elsewhere. */
  isTainted: boolean;
  /** Builds the prompt again from the records. */
  prompt: () => Prompt;
  /** Records a change. */
  write: (record: Omit<ContextRecord, 'kind' | 'turn'>) => Promise<void>;
}

/** How a history was changed. */
export interface Fitted {
  prompt: Prompt;
  change?: { cleared: number; summarised: boolean; tokensBefore: number; tokensAfter: number };
}

/**
 * The share of the window that a change must free. A smaller one would not be worth the loss of the
 * cache.
 */
const MIN_GAIN = 0.1;
/** The share of the window that stays unchanged. */
const KEPT = 0.25;
/**
 * The share of the trigger that a prompt may have after results were cleared, if nothing is summed
 * up.
 */
const CLEARED_TARGET = 0.5;
/** The share of the window that a summary may have. */
const SUMMARY = 0.05;
/** A result of this many characters is not worth clearing. */
const SMALL_RESULT = 200;

/**
 * Makes a history shorter once it has reached its share of the window, and records what the model
 * no longer sees.
 *
 * @throws `ContextFull` if the prompt would still not fit; as `ask` and `write`
 */
export async function fitContext(parts: FitParts): Promise<Fitted> {
  const { plan, log } = parts;
  const prompt = parts.prompt();
  const factor = correction(log.counted, { isNative: plan.native.length > 0 });
  const before = promptTokens(prompt) * factor;
  if (before <= plan.trigger) return { prompt };
  const record = await new Fitting(parts, prompt, factor).record(before);
  if (record === undefined) {
    if (before > plan.limit) throw new ContextFull(before, plan);
    return { prompt };
  }
  await parts.write(record);
  const shorter = parts.prompt();
  const after = promptTokens(shorter) * factor;
  if (after > plan.limit) throw new ContextFull(after, plan);
  return {
    prompt: shorter,
    change: {
      cleared: record.cleared.length,
      summarised: record.summary !== undefined,
      tokensBefore: Math.ceil(before),
      tokensAfter: Math.ceil(after),
    },
  };
}

type Change = Omit<ContextRecord, 'kind' | 'turn'>;

/** Decides what is cleared and summed up. Its tokens are estimates, which `factor` corrects. */
class Fitting {
  readonly #parts: FitParts;
  readonly #prompt: Prompt;
  readonly #factor: number;
  /** The index of the first entry that stays unchanged. */
  readonly #keptFrom: number;

  constructor(parts: FitParts, prompt: Prompt, factor: number) {
    this.#parts = parts;
    this.#prompt = prompt;
    this.#factor = factor;
    this.#keptFrom = this.#firstKept();
  }

  /** The change to make, or `undefined` if it would free too little. */
  async record(before: number): Promise<Change | undefined> {
    const { plan, log } = this.#parts;
    const old = clearable(log.entries.slice(0, this.#keptFrom));
    const added = log.isShortened ? 0 : textTokens(JSON.stringify(READ_RESULT_DEFINITION));
    const afterClear = before - (wonBy(old) - added) * this.#factor;
    const isEnough = afterClear <= plan.trigger * CLEARED_TARGET;
    const isNeeded = before > plan.limit;
    if (!isEnough && plan.summarise && this.#isWorthASummary()) {
      const rest = this.#tokensWithoutOld() + added;
      const minGain = isNeeded ? 0 : plan.window * MIN_GAIN;
      if (before - (rest + this.#summaryTokens) * this.#factor > minGain) {
        return this.#summed(rest);
      }
    }
    if (before - afterClear >= plan.window * MIN_GAIN && afterClear <= plan.limit) {
      return { cleared: old.map(({ id }) => id) };
    }
    if (!isNeeded) return undefined;
    // As a last resort, the newest results are cleared too. The model can read them again page by
    // page.
    const all = clearable(log.entries);
    const cleared = this.#oldestOf(all, before / this.#factor + added);
    return cleared.length === 0 ? undefined : { cleared };
  }

  get #summaryTokens(): number {
    return Math.floor((this.#parts.plan.window * SUMMARY) / this.#factor);
  }

  get #limit(): number {
    return this.#parts.plan.limit / this.#factor;
  }

  /** @param rest the tokens of the prompt without the part that is summed up */
  async #summed(rest: number): Promise<Change> {
    const { log, isTainted, images, ask, usageOf, plan } = this.#parts;
    const { system, definitions } = this.#prompt;
    const kept = clearable(log.entries.slice(this.#keptFrom));
    const afterSummary = rest + this.#summaryTokens;
    const cleared = this.#oldestOf(kept, afterSummary);
    // Checked before the model is asked, so that nobody pays for a summary that is not used.
    if (afterSummary - wonBy(kept.filter(({ id }) => cleared.includes(id))) > this.#limit) {
      throw new ContextFull(afterSummary * this.#factor, plan);
    }
    const fixed = promptTokens({ system, definitions, messages: [] });
    const { summary, untrusted } = await summarise(log.entries.slice(0, this.#keptFrom), {
      prompt: { system, definitions },
      room: this.#limit - fixed,
      summaryTokens: this.#summaryTokens,
      images,
      isTainted,
      ask,
      usageOf,
    });
    return { cleared, summary, ...(untrusted === true && { untrusted }) };
  }

  /** The calls whose results must be cleared for a prompt to fit, the oldest first. */
  #oldestOf(results: readonly Clearable[], tokens: number): string[] {
    let left = tokens;
    return results.flatMap(({ id, tokens: won }) => {
      if (left <= this.#limit) return [];
      left -= won;
      return [id];
    });
  }

  #tokensWithoutOld(): number {
    const { log, images } = this.#parts;
    const { entries } = log;
    const head = summedUp(entries.slice(0, this.#keptFrom), '');
    const messages = modelMessages([head, ...entries.slice(this.#keptFrom)], { images });
    return promptTokens({ ...this.#prompt, messages });
  }

  #isWorthASummary(): boolean {
    const old = this.#parts.log.entries.slice(0, this.#keptFrom);
    return old.some((entry) => !('prompts' in entry || 'kind' in entry));
  }

  /**
   * The index of the first entry that stays. The last turns stay as far as they fit into a share of
   * the window. The last step always stays.
   */
  #firstKept(): number {
    const { plan, log, images } = this.#parts;
    const { entries } = log;
    const firstTurn = (log.turn?.turn ?? 0) - plan.keepTurns + 1;
    const room = (plan.window * KEPT) / this.#factor;
    let used = 0;
    let first = entries.length;
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at];
      if (entry === undefined || 'prompts' in entry) break;
      const isOld = ('kind' in entry ? entry.turn : entry.record.turn) < firstTurn;
      used += messageTokens(modelMessages([entry], { images }));
      const isLast = at === entries.length - 1;
      if (!isLast && (isOld || used > room)) break;
      first = at;
    }
    return first;
  }
}

interface Clearable {
  id: string;
  /** The tokens that clearing it frees. */
  tokens: number;
}

/** The results that may be cleared, the oldest first. */
function clearable(entries: readonly LoggedEntry[]): Clearable[] {
  return entries.flatMap((entry) => {
    if ('prompts' in entry || 'kind' in entry) return [];
    return entry.calls.flatMap(({ call, result }) => {
      if (result === undefined || isNotice(result)) return [];
      const { output, images = [] } = result;
      const text = clearedText(call.id);
      if (output === text || (output.length <= SMALL_RESULT && images.length === 0)) return [];
      const won = resultTokens(output, images.length) - textTokens(text);
      return [{ id: call.id, tokens: Math.max(0, won) }];
    });
  });
}

function wonBy(results: readonly Clearable[]): number {
  return results.reduce((sum, { tokens }) => sum + tokens, 0);
}
