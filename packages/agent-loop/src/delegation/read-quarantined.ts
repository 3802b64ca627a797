import { randomUUID } from 'node:crypto';
import {
  answerOfHost,
  askQuarantined,
  type CallFacts,
  CallGuard,
  type DelegatingCall,
  markUntrusted,
  NO_ANSWER,
  type QuarantineModel,
  type ShowImagesOptions,
  showImages,
  sourceOf,
  type UntrustedFiles,
} from '@ethosagent/core';
import { compileClosedSchema } from '@ethosagent/policy';
import type {
  FailureCause,
  QuarantinedRead,
  QuarantinedValue,
  ToolResult,
} from '@ethosagent/types';
import type { AgentLoopOptions } from '../api.js';
import type { DelegatingTurn } from './child-turn.js';

export interface QuarantineParts {
  turn: DelegatingTurn;
  approve: AgentLoopOptions['approve'];
  files: UntrustedFiles;
  /** Asks the agent's model, without tools. */
  read: QuarantineModel;
  /** How that model sees images. */
  images: ShowImagesOptions;
  caller: DelegatingCall;
  /** Milliseconds since the epoch. */
  now: () => number;
}

const CAN_NOT_WAIT =
  'this call needs an approval, and a call that is read in quarantine cannot wait for one, so it did not run; tell the user what is to be read, and why';

/**
 * Runs a call through the gates of its agent, lets a model without tools read the result, and
 * returns what fits the schema. Nothing else of the result leaves this function.
 */
export async function readQuarantined(
  { tool: name, args, question, schema }: QuarantinedRead,
  parts: QuarantineParts,
): Promise<QuarantinedValue> {
  const closed = compileClosedSchema(schema);
  if (!closed.ok) return failed(closed.problem, 'INPUT_INVALID');
  const { turn, read, images, caller } = parts;
  const { signal } = caller;
  if (turn.tools.tool(name)?.capabilities.delegation !== undefined) {
    return failed(
      `${name} gives tasks to others, and is not read in quarantine`,
      'DELEGATION_REFUSED',
    );
  }
  const { result, isMarked } = await runCall(name, args, parts);
  if (!result.ok) {
    const { cause = 'CALL_INTERRUPTED' } = result;
    const told = isMarked ? `${name} failed (${cause}); what it said was not shown` : result.error;
    return failed(told, cause);
  }
  const named = sourceOf(name, args);
  const source = caller.secrets?.redact(named) ?? named;
  const text = markUntrusted(result.value, { source, tool: name });
  const { images: shown, note } = await showImages(result, { ...images, signal });
  const answer = await askQuarantined([{ text: `${text}\n${note}`.trim(), images: shown }], {
    schema,
    compiled: closed.schema,
    question,
    read,
    signal,
  });
  return answer === undefined ? failed(NO_ANSWER.error, NO_ANSWER.cause) : { ok: true, ...answer };
}

function failed(error: string, cause: FailureCause): QuarantinedValue {
  return { ok: false, error, cause };
}

async function runCall(
  name: string,
  args: unknown,
  { turn, approve, files, caller, now }: QuarantineParts,
): Promise<{ result: ToolResult; isMarked: boolean }> {
  const { tools, personalityId, identity, ref, claim } = turn;
  const { signal } = caller;
  const personality = await tools.personality(personalityId);
  const guard = new CallGuard({
    personality,
    tool: (asked) => tools.tool(asked),
    isTainted: turn.sources().length > 0,
    sources: turn.sources(),
    approve: async (request) => {
      const said = await answerOfHost(approve, request);
      if (said === 'later') return { approved: false, reason: CAN_NOT_WAIT };
      if (typeof said !== 'object' || said.approved !== true) return said;
      // An approval must be for exactly this call.
      if (said.args !== undefined) return { approved: false, reason: CAN_NOT_WAIT };
      return { approved: true, ...(said.by !== undefined && { by: said.by }) };
    },
    grants: async () => [],
    files,
    now,
    book: {
      find: () => undefined,
      inputOf: () => args,
      isOver: () => true,
      ask: async () => {},
      decide: async () => {},
      grant: async () => {},
    },
  });
  const toolCallId = `read-${randomUUID().replaceAll('-', '')}`;
  let facts: CallFacts | undefined;
  const [answer] = await tools.execute([{ toolCallId, name, args: structuredClone(args) }], {
    ...identity,
    personality: personality.id,
    sessionId: ref.id,
    currentTurn: 1,
    messageCount: 0,
    abortSignal: signal,
    resultBudgetChars: turn.limits.resultBudgetChars ?? 80_000,
    attachments: turn.attachments,
    protections: 'none',
    host: {
      ...guard.host(),
      // The session will not read what this call reads. But what the call keeps in stores may be
      // untrusted.
      isTainted: true,
      ...(caller.secrets !== undefined && { secrets: caller.secrets }),
      ...(caller.toolCallId !== undefined && { parentCallId: caller.toolCallId }),
      ...(claim !== undefined && { assertOwned: () => claim.assertHeld() }),
      beforeRun: async () => {
        signal.throwIfAborted();
        await turn.beginRead();
      },
      onResult: (_, told) => {
        facts = told;
      },
    },
  });
  if (answer === undefined) {
    const error = 'there was no answer';
    return { result: { ok: false, code: 'execution_failed', error }, isMarked: false };
  }
  const cost = facts?.ran === true && answer.result.ok ? Number(answer.result.cost_usd) : 0;
  if (cost > 0 && Number.isFinite(cost)) turn.paid(cost);
  const { isMarked } = await guard.judge(answer, facts);
  return { result: answer.result, isMarked };
}
