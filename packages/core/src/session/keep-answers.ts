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

/** A round that has run. */
export interface AnsweredRound {
  round: readonly PlacedCall[];
  answers: readonly ToolCallResult[];
  facts: ReadonlyMap<string, CallFacts>;
  guard: CallGuard;
  ledger: SessionLedger;
  approvals: SessionApprovals;
  images: ToolSessionParts['images'];
  signal: AbortSignal | undefined;
  /** The results are for the reader alone. Gets the places of those that hold foreign text. */
  quarantined: Set<number> | undefined;
}

interface KeptAnswer {
  index: number;
  result: SessionResult;
  /** Where it comes from, where the session has read untrusted content with it. */
  source?: UntrustedSource;
  /** Instead of the result, where the source could not be noted. */
  withheld: () => SessionResult;
}

/**
 * Marks what was read, and notes where it came from before anybody reads it.
 *
 * @returns the results by their places in the batch
 */
export async function keepAnswers(answered: AnsweredRound): Promise<Map<number, SessionResult>> {
  const { round, answers, ledger, approvals, quarantined } = answered;
  const kept: KeptAnswer[] = [];
  for (const [place, placed] of round.entries()) {
    const answer = answers[place];
    if (answer === undefined) continue;
    const { isMarked, ...one } = await keepAnswer(answer, placed, answered);
    kept.push(one);
    if (isMarked) quarantined?.add(placed.index);
    const { toolCallId } = answer;
    const said = ledger.waitingCall(toolCallId)?.approval;
    if (said?.decision?.approved === false && one.result.approval === undefined) {
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
  // Of calls with one id, one may wait and another have run.
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
  'the call has run, and its result is withheld: that it is untrusted could not be recorded; fix the store of sessions';
