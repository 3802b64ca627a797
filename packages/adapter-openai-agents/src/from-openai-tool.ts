import { randomUUID } from 'node:crypto';
import { assertForeignTool } from '@ethosagent/core';
import { assertOptions, isAnything, isBoolean, type OptionNames } from '@ethosagent/policy';
import { EthosError, type Tool } from '@ethosagent/types';
import {
  type FunctionTool,
  getCurrentSpan,
  getCurrentTrace,
  invokeFunctionTool,
  NoopTrace,
  RunContext,
  Span,
  withTraceContext,
} from '@openai/agents';
import { resultOf } from './foreign-output.js';

// biome-ignore lint/suspicious/noExplicitAny: the only type that a tool of any context, parameters and result is assignable to
export type ForeignOpenAiTool = FunctionTool<any, any, any>;

export interface FromOpenAiToolOptions {
  /**
   * Whether calls need approval. With `false`, they need it only if the tool's own `needsApproval`
   * says so. `true` when absent.
   */
  approval?: boolean;
  /** The value that the tool gets as `context` of its run. */
  context?: unknown;
}

const OPTIONS: OptionNames<FromOpenAiToolOptions> = {
  approval: [isBoolean, 'true or false'],
  context: [isAnything, 'a value'],
};

/**
 * Makes a tool of a runtime from a tool of the framework. Its function keeps the authority of this
 * process: nothing that it touches is declared, bounded or audited. Each call therefore needs
 * approval, its output is untrusted, and it counts as a call with every effect.
 *
 * If the function fails, the result is a failed one, even if the framework would answer with a
 * text.
 *
 * @param foreign the tool of the framework
 * @param options `approval: false` lets calls run without approval; `context`: a value for the
 * function
 * @returns the tool; register it in a runtime
 * @throws `CONFIG_INVALID` for an invalid option, or for a tool with guardrails, which only an agent of
 * the framework runs
 * @throws `TOOL_INVALID` for something else than a tool
 */
export function fromOpenAiTool(
  foreign: ForeignOpenAiTool,
  options: FromOpenAiToolOptions = {},
): Tool<Record<string, unknown>> {
  assertForeignTool('fromOpenAiTool', foreign);
  assertOptions('fromOpenAiTool', options, OPTIONS);
  const { name, description, parameters } = foreign;
  if ([foreign.inputGuardrails, foreign.outputGuardrails].some((list) => list?.length)) {
    throw new EthosError(
      'CONFIG_INVALID',
      `${name} has guardrails, which nobody would run here; check in its function, and leave them out`,
    );
  }
  const { approval = true } = options;
  const newContext = () => new RunContext(options.context);
  return {
    name,
    description,
    schema: { ...parameters },
    capabilities: {},
    unconfined: true,
    effects: ['write', 'send', 'spawn'],
    outputIsUntrusted: true,
    requiresApproval: approval
      ? true
      : (args) => foreign.needsApproval(newContext(), structuredClone(args)),
    execute: async (args, ctx) => {
      const input = JSON.stringify(args);
      const callId = ctx.toolCallId ?? randomUUID();
      const { hasFailed, output } = await invoke(() =>
        invokeFunctionTool({
          // If a timeout came as a result, it would look like an answer.
          tool: { ...foreign, timeoutBehavior: 'raise_exception' },
          runContext: newContext(),
          input,
          details: {
            toolCall: { type: 'function_call', callId, name, arguments: input },
            signal: ctx.abortSignal,
          },
        }),
      );
      const result = resultOf(output);
      return hasFailed ? { ok: false, code: 'execution_failed', error: result.value } : result;
    },
  };
}

/**
 * Runs a tool, and tells whether it threw. The framework turns an error into an ordinary answer,
 * and marks it only in the current span. So the tool gets a span here, which is never exported.
 */
async function invoke(
  run: () => Promise<unknown>,
): Promise<{ hasFailed: boolean; output: unknown }> {
  const outer = getCurrentSpan();
  const trace = getCurrentTrace() ?? new NoopTrace();
  const span = new Span(
    {
      traceId: trace.traceId,
      data: { type: 'custom', name: 'fromOpenAiTool', data: {} },
      ...(outer !== null && { spanId: outer.spanId }),
    },
    {
      onTraceStart: async () => {},
      onTraceEnd: async () => {},
      onSpanStart: async () => {},
      onSpanEnd: async () => {},
      shutdown: async () => {},
      forceFlush: async () => {},
    },
  );
  try {
    const output = await withTraceContext({ trace, span }, run);
    if (span.error !== null) outer?.setError(span.error);
    return { hasFailed: span.error !== null, output };
  } catch (error) {
    return { hasFailed: true, output: error instanceof Error ? error.message : String(error) };
  }
}
