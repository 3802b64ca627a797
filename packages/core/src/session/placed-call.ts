import { canonicalJson } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import { partsOf } from './session-answers.js';
import type { SessionLedger } from './session-ledger.js';

/** A call of a batch, and the place of its result. */
export interface PlacedCall {
  call: ToolCall;
  index: number;
  /** The arguments that were approved, if they differ. */
  edited?: unknown;
  /** The question whose answer changed the arguments. */
  question?: string;
}

/** A call with the approved arguments, if it is exactly the call that was asked about. */
export function placeCall(
  call: ToolCall,
  index: number,
  ledger: Pick<SessionLedger, 'waitingCall'>,
): PlacedCall {
  const { toolCallId, name, args = null } = partsOf(call);
  const waiting = ledger.waitingCall(toolCallId);
  const edited = waiting?.approval.decision?.args;
  const isTheSame =
    waiting !== undefined &&
    waiting.approval.toolName === name &&
    canonicalJson(waiting.input) === canonicalJson(args);
  if (edited === undefined || !isTheSame) return { call, index };
  return { call, index, edited, question: waiting.approval.question };
}

export function callToRun({ call, edited }: PlacedCall): ToolCall {
  return edited === undefined ? call : { ...call, args: edited };
}

/** The arguments that the model gave, by the id of the call. */
export function inputsOf(placed: readonly PlacedCall[]): ReadonlyMap<string, unknown> {
  return new Map(
    placed.map(({ call }) => {
      const { toolCallId, args } = partsOf(call);
      return [toolCallId, args];
    }),
  );
}

/** The questions whose answer changed the arguments of a call, by its id. */
export function editsOf(placed: readonly PlacedCall[]): ReadonlyMap<string, string> {
  return new Map(
    placed.flatMap(({ call, question }): [string, string][] =>
      question === undefined ? [] : [[partsOf(call).toolCallId, question]],
    ),
  );
}
