import { callListener, causeOfThrown, truncateToBudget } from '@ethosagent/policy';
import { type DelegatedTask, errorCodeOf, type FailureCause } from '@ethosagent/types';
import type { AgentEvent, AgentLoopOptions, AgentUsage, TurnEnd } from '../api.js';
import { NO_USAGE } from '../usage.js';
import { approveForChild } from './child-approvals.js';
import { childLimits } from './child-limits.js';
import { progressOf } from './child-progress.js';
import type { DelegatingTurn, RunChild } from './child-turn.js';
import type { TaskGrant } from './grant-task.js';
import type { Task } from './task.js';

/** The parts of a loop that run a task. */
export interface TaskRun {
  runChild: RunChild;
  approve: AgentLoopOptions['approve'];
  maxResultChars: number;
  now: () => number;
  onProgress: ((message: string) => void) | undefined;
  /** Called when the turn that gave the task has used up its budget. */
  onUsedUp: () => void;
}

/** A task, with the tools and the personality that it was granted. */
export interface GrantedTask {
  asked: DelegatedTask;
  turn: DelegatingTurn;
  grant: TaskGrant;
}

/** Runs a task to its end, and sets its outcome. Never rejects. */
export async function runTask(
  task: Task,
  { asked, turn, grant }: GrantedTask,
  run: TaskRun,
): Promise<void> {
  let charged = NO_USAGE;
  const charge = (used: AgentUsage) => {
    void turn.charge(less(used, charged));
    charged = used;
    if (isUsedUp(turn)) run.onUsedUp();
  };
  try {
    const events = run.runChild({
      sessionId: task.id,
      sessionKey: `task of ${turn.ref.key ?? turn.ref.id}`,
      personalityId: grant.personalityId,
      prompt: asked.prompt,
      tools: grant.tools,
      identity: turn.identity,
      limits: childLimits(turn, asked, { outlivesTurn: task.isBackground }),
      isTainted: turn.sources().length > 0,
      approve: approveForChild(run.approve),
      abortSignal: task.signal,
      depth: turn.depth + 1,
      begun: turn.begun,
      grantsOf: turn.grantsOf,
      claim: turn.claim,
    });
    let failure: unknown;
    for await (const event of events) {
      task.follow(event);
      if (event.type === 'error') failure = event.error;
      reportProgress(run.onProgress, event);
      if (event.type === 'usage') charge(event.turn);
      if (event.type !== 'done') continue;
      charge(event.usage);
      finish(task, { ...event, failure }, run);
    }
    task.finish('failed', run.now(), {
      error: 'the sub-agent ended without an answer; it may have done part of its task',
    });
  } catch (error) {
    const isAborted = task.signal.aborted;
    task.finish(isAborted ? 'cancelled' : 'failed', run.now(), {
      error: isAborted ? reasonOf(task) : failureOf(error),
      ...withCause(isAborted ? 'DELEGATION_CANCELLED' : causeOfThrown(error)),
    });
  }
}

function finish(
  task: Task,
  { end, text, message, failure }: AgentEvent & { type: 'done' } & { failure: unknown },
  { maxResultChars, now }: TaskRun,
): void {
  const result = text === '' ? {} : { result: truncateToBudget(text, maxResultChars) };
  if (end === 'answered') task.finish('done', now(), result);
  else if (end === 'aborted' || task.signal.aborted) {
    task.finish('cancelled', now(), {
      ...result,
      error: reasonOf(task),
      cause: 'DELEGATION_CANCELLED',
    });
  } else {
    task.finish('failed', now(), {
      ...result,
      error: truncateToBudget(
        (failure === undefined ? message : failureOf(failure)) ?? `the sub-agent ended with ${end}`,
        MAX_ERROR_CHARS,
      ),
      ...withCause(failure === undefined ? causeOfChild(end) : causeOfThrown(failure)),
    });
  }
}

const MAX_ERROR_CHARS = 1_000;

function causeOfChild(end: TurnEnd): FailureCause | undefined {
  if (end === 'failed') return undefined;
  return end === 'max_time' ? 'CALL_TIMED_OUT' : 'DELEGATION_LIMIT';
}

function withCause(cause: FailureCause | undefined): { cause?: FailureCause } {
  return cause === undefined ? {} : { cause };
}

function reportProgress(onProgress: TaskRun['onProgress'], event: AgentEvent): void {
  const progress = onProgress && progressOf(event);
  if (progress !== undefined) callListener(() => onProgress?.(progress));
}

function reasonOf({ signal }: Task): string {
  return signal.reason instanceof Error ? signal.reason.message : 'it was cancelled';
}

/**
 * Only messages of this project are told. Another error may name things that the model should not
 * know.
 */
function failureOf(error: unknown): string {
  const isOurs = errorCodeOf(error) !== undefined && error instanceof Error;
  return isOurs ? truncateToBudget(error.message, MAX_ERROR_CHARS) : 'the sub-agent failed';
}

export function isUsedUp(turn: DelegatingTurn): boolean {
  const { tokens, costUsd } = turn.remaining();
  return (tokens ?? 1) <= 0 || (costUsd ?? 1) <= 0;
}

function less(now: AgentUsage, before: AgentUsage): AgentUsage {
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    cachedInputTokens: now.cachedInputTokens - before.cachedInputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    costUsd: now.costUsd - before.costUsd,
  };
}
