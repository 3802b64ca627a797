import { recordCall, tellError } from '@ethosagent/core';
import { errorText } from '@ethosagent/policy';
import type { AuditSink, FailureCause, ToolCall, ToolCallResult } from '@ethosagent/types';
import { refuseAll } from './refusals.js';
import type { ExecuteOptions, ToolRuntimeOptions } from './runtime-api.js';

/** The parts of a runtime that refused calls use. */
export interface RefusedCallsParts {
  readonly options: ToolRuntimeOptions;
  readonly audit: AuditSink;
  /** The session of calls that name none. */
  readonly sessionId: string;
  /** The personality of calls that name none. */
  readonly activePersonality: () => string;
}

/** Calls that the runtime refuses before they reach the registry. */
export class RefusedCalls {
  readonly #parts: RefusedCallsParts;

  constructor(parts: RefusedCallsParts) {
    this.#parts = parts;
  }

  /** Refuses a batch because of an error. */
  refuseAll(
    calls: readonly ToolCall[],
    error: unknown,
    { cause, options }: { cause: FailureCause; options: ExecuteOptions },
  ): ToolCallResult[] {
    const refused = refuseAll(calls, errorText(error), cause).map((answer, index) =>
      this.record(answer, calls[index], options),
    );
    const { onError } = this.#parts.options;
    for (const { toolCallId, name: toolName, result } of refused) {
      if (onError === undefined || result.ok) continue;
      const { code } = result;
      const sessionId = options.sessionId ?? this.#parts.sessionId;
      tellError({ onError }, { toolCallId, toolName, sessionId, code, cause, error });
    }
    return refused;
  }

  record(
    answer: ToolCallResult,
    call: ToolCall | undefined,
    options: ExecuteOptions,
  ): ToolCallResult {
    const { audit, options: own, sessionId, activePersonality } = this.#parts;
    if (audit.call === undefined || options.host?.checksOnly !== undefined) return answer;
    const { agentId, userScopeId, teamId, dryRun } = options;
    const { args }: Partial<ToolCall> = Object(call);
    const { parentCallId } = options.host ?? {};
    const record = {
      time: new Date((own.limits?.now ?? Date.now)()).toISOString(),
      sessionId: options.sessionId ?? sessionId,
      personalityId: options.personality ?? activePersonality(),
      ...(agentId !== undefined && { agentId }),
      ...(userScopeId !== undefined && { userScopeId }),
      ...(teamId !== undefined && { teamId }),
      toolName: String(answer.name ?? ''),
      toolCallId: String(answer.toolCallId ?? ''),
      ...(parentCallId !== undefined && { parentCallId }),
      args,
      ...(dryRun === true && { dryRun }),
      gate: 'runtime',
    };
    const result = recordCall(audit, record, {
      result: answer.result,
      facts: { ran: false, durationMs: 0 },
      withArgs: own.auditArguments === true,
      withResult: own.auditResults === true,
    });
    return { ...answer, result };
  }
}
