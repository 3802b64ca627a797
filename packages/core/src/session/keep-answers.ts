import { EthosError, type ToolCallResult } from '@ethosagent/types';
import { IMAGE_LIMITS } from '../results/image-limits.js';
import { showImages } from '../results/show-images.js';
import type { CallFacts } from '../turn-host.js';
import type { CallGuard } from './call-guard.js';
import { markResult, modelText, withEdit } from './mark-result.js';
import type { PlacedCall } from './placed-call.js';
import { partsOf, refusedResult, waits } from './session-answers.js';
import type { SessionResult, UntrustedSource } from './session-api.js';
import type { SessionApprovals } from './session-approvals.js';
import type { SessionLedger } from './session-ledger.js';
import type { ToolSessionParts } from './session-parts.js';
import { sourceOfCall } from './source-list.js';
import { sourceOf } from './untrusted-gate.js';

/** A round of calls after it has run. */
export interface AnsweredRound {
  round: readonly PlacedCall[];
  answers: readonly ToolCallResult[];
  facts: ReadonlyMap<string, CallFacts>;
  guard: CallGuard;
  ledger: SessionLedger;
  approvals: SessionApprovals;
  images: ToolSessionParts['images'];
  signal: AbortSignal | undefined;
  /** Nothing ran, so what was decided is not used up. */
  isDryRun: boolean;
  /**
   * Present when only the reader gets the results. Filled with the places of results that hold
   * untrusted text.
   */
  quarantined: Set<number> | undefined;
}

interface KeptAnswer {
  index: number;
  result: SessionResult;
  /** The source of the result, if the session has read untrusted content with it. */
  source?: UntrustedSource;
  /** The result to give instead if the source could not be recorded. */
  withheld: () => SessionResult;
}

/**
 * Marks results that hold untrusted text, and records their sources before anybody reads them.
 *
 * @returns the results by their places in the batch
 */
export async function keepAnswers(answered: AnsweredRound): Promise<Map<number, SessionResult>> {
  const { round, answers, guard, ledger, approvals, quarantined, signal, isDryRun } = answered;
  const kept: KeptAnswer[] = [];
  for (const [place, placed] of round.entries()) {
    const answer = answers[place];
    if (answer === undefined) continue;
    const { isMarked, ...one } = await keepAnswer(answer, placed, answered);
    kept.push(one);
    if (isMarked) quarantined?.add(placed.index);
    const { toolCallId } = answer;
    const asked = guard.waiting.get(toolCallId);
    // The turn was aborted while the question was recorded. Its call is over, so no yes may run it.
    if (signal?.aborted === true && asked !== undefined && one.result.approval === undefined) {
      await approvals.withdraw(asked).catch(() => {});
    }
    const said = ledger.waitingCall(toolCallId)?.approval;
    const isOver = !isDryRun && one.result.approval === undefined;
    if (isOver && said?.decision?.approved === false) {
      const { question } = said;
      await approvals.settle((asked) => asked.question === question).catch(() => {});
    }
  }
  const isNoted = await ledger.addSources(kept.flatMap(({ source }) => source ?? [])).then(
    () => true,
    () => false,
  );
  return new Map(
    kept.map(({ index, result, source, withheld }) => [
      index,
      source === undefined || isNoted ? result : withheld(),
    ]),
  );
}

async function keepAnswer(
  answer: ToolCallResult,
  { call, index, edited }: PlacedCall,
  { guard, facts, quarantined, images, signal }: AnsweredRound,
): Promise<KeptAnswer & { isMarked: boolean }> {
  const { toolCallId, name } = answer;
  const fact = facts.get(toolCallId);
  const { isMarked, isUntrusted, from } = await guard.judge(answer, fact);
  // Of several calls with one id, one may wait while another has run.
  const isAnswered = answer.result.ok || answer.result.cause !== 'NOT_APPROVED';
  const approval = isAnswered ? undefined : guard.waiting.get(toolCallId);
  const args = edited ?? partsOf(call).args;
  const given =
    approval === undefined ? answer.result : waits(name, guard.problems.get(toolCallId));
  const noted = edited !== undefined && fact?.ran === true ? withEdit(given, edited) : given;
  const result = isMarked ? markResult(noted, { source: sourceOf(name, args), tool: name }) : noted;
  const shown = await showImages(answer.result, {
    ...(images ?? { limits: IMAGE_LIMITS.common }),
    ...(signal && { signal }),
  });
  const text = modelText(result);
  // What only the reader gets, the session has not read.
  const isRead = isUntrusted && quarantined === undefined;
  return {
    index,
    isMarked,
    result: {
      ...answer,
      result,
      text: shown.note === '' ? text : `${text}\n${shown.note}`,
      images: shown.images,
      durationMs: fact?.durationMs ?? 0,
      ...(approval !== undefined && { approval }),
    },
    ...(isRead && {
      source: from === undefined ? sourceOfCall(name, args) : { source: from, tool: name },
    }),
    withheld: () => refusedResult(call, new EthosError('STORE_UNAVAILABLE', WITHHELD)),
  };
}

const WITHHELD =
  'the call has run, and its result is withheld, because the session could not record that the result is untrusted; tell the user that the store of sessions failed, and check what the call did before you make it again';
