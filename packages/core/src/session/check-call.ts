import type { PersonalityConfig, ToolCall, ToolCallResult, ToolResult } from '@ethosagent/types';
import type { TurnHost } from '../turn-host.js';
import { emptyBook } from './approval-book.js';
import { CallGuard } from './call-guard.js';
import { partsOf } from './session-answers.js';
import type { PendingApproval, SessionIdentity, UntrustedSource } from './session-api.js';
import type { SessionTools } from './session-tools.js';

const MAX_RESULT_CHARS = 80_000;

/** What would happen to a call, according to the gates alone. */
export type CheckedCall =
  | { kind: 'runs' }
  | { kind: 'asks'; approval: PendingApproval }
  | { kind: 'refused'; result: ToolResult };

/** Takes a call through its gates. Nothing runs. */
export async function checkCall(
  call: ToolCall,
  guard: CallGuard,
  {
    tools,
    identity,
    personality,
    sessionId,
    judgesPlaces = false,
  }: Omit<CheckedSession, 'isTainted' | 'sources' | 'now'> & { judgesPlaces?: boolean },
): Promise<CheckedCall> {
  let passes = false;
  const host: TurnHost = {
    ...guard.host(),
    judgesPlaces,
    checksOnly: () => {
      passes = true;
    },
  };
  const [answer]: ToolCallResult[] = await tools.execute([call], {
    ...identity,
    personality: personality.id,
    sessionId,
    currentTurn: 1,
    messageCount: 0,
    abortSignal: new AbortController().signal,
    resultBudgetChars: MAX_RESULT_CHARS,
    protections: 'none',
    host,
  });
  const approval = guard.waiting.get(partsOf(call).toolCallId);
  if (approval !== undefined) return { kind: 'asks', approval };
  if (passes) return { kind: 'runs' };
  return {
    kind: 'refused',
    result: answer?.result ?? {
      ok: false,
      code: 'execution_failed',
      error: 'the check gave no answer; nothing ran',
    },
  };
}

/** The session that a call is checked for. */
export interface CheckedSession {
  tools: SessionTools;
  sessionId: string;
  identity: SessionIdentity;
  personality: PersonalityConfig;
  isTainted: boolean;
  sources: readonly UntrustedSource[];
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * As `checkCall`, for arguments from somebody other than the model: the places that they name are
 * checked too. Nothing is recorded.
 */
export function checkOffRecord(call: ToolCall, session: CheckedSession): Promise<CheckedCall> {
  const { tools, personality, isTainted, sources, now } = session;
  const guard = new CallGuard({
    personality,
    tool: (name) => tools.tool(name),
    isTainted,
    sources,
    approve: undefined,
    grants: async () => [],
    now,
    book: emptyBook(call.args),
  });
  return checkCall(call, guard, { ...session, judgesPlaces: true });
}
