import { randomUUID } from 'node:crypto';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { assertBatchValues, assertToolSession, type ToolSession } from '@ethosagent/core';
import { assertOptions, callListener } from '@ethosagent/policy';
import { type AnthropicCallOptions, batchOptions, CALL_OPTIONS } from './batch-options.js';
import { createBatches } from './batches.js';
import { type AnthropicDefinition, toAnthropicDefinitions } from './definitions.js';
import { contentOf, type ResultContent } from './result-content.js';

/** A tool of a session, for the `tools` of a tool runner. */
export interface AnthropicTool extends AnthropicDefinition {
  /**
   * Returns the arguments unchanged. The session validates them, and its message says what is
   * wrong.
   */
  parse: (input: unknown) => unknown;
  /**
   * Runs a call, and returns its content for the model.
   * @throws `ToolError` if the call failed; the runner turns it into a result with `is_error`
   */
  run: (input: unknown, context?: RunContext) => Promise<ResultContent>;
}

type RunContext = Parameters<BetaRunnableTool<unknown>['run']>[1];

/**
 * Returns the tools of a session for `client.beta.messages.toolRunner`. The session validates,
 * asks, runs, marks and records each call. The calls of one reply form one batch. A failed call
 * throws the SDK's `ToolError` with the text for the model, and the run continues.
 *
 * A call that waits for a decision does not run, and also fails: the model reads that it waits. If
 * you want to decide before that, use `pendingFor` in the loop.
 *
 * @param session the session of the tools
 * @param options the tools to offer, a callback for results, and options of the calls
 * @returns the tools
 * @throws `CONFIG_INVALID` if the personality or an option is not valid, or if the API does not accept the name
 * of a tool
 *
 * @example
 * ```ts
 * const runner = client.beta.messages.toolRunner({
 *   model: 'claude-opus-5',
 *   max_tokens: 1024,
 *   messages: [{ role: 'user', content: 'Read notes.txt.' }],
 *   tools: await toAnthropicTools(runtime.session('first')),
 * });
 * const answer = await runner.runUntilDone();
 * ```
 */
export async function toAnthropicTools(
  session: ToolSession,
  options: AnthropicCallOptions = {},
): Promise<AnthropicTool[]> {
  assertToolSession('toAnthropicTools', session);
  assertOptions('toAnthropicTools', options, CALL_OPTIONS);
  assertBatchValues('toAnthropicTools', options);
  const execute = createBatches((calls, signal) =>
    session.execute(calls, batchOptions(options, signal)),
  );
  const { tools } = options;
  const definitions = await toAnthropicDefinitions(session, {
    ...(tools !== undefined && { tools }),
  });
  return definitions.map((definition) => ({
    ...definition,
    parse: (input) => input,
    run: async (input, context) => {
      const { name } = definition;
      const toolCallId = context?.toolUse.id ?? randomUUID();
      const signal = context?.signal ?? undefined;
      const answer = await execute({ toolCallId, name, args: input }, signal);
      callListener(() => options.onResult?.(answer));
      const content = contentOf(answer);
      if (answer.result.ok) return content;
      throw new ToolError(content);
    },
  }));
}
