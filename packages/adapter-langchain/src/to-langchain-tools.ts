import { randomUUID } from 'node:crypto';
import {
  assertBatchValues,
  assertToolSession,
  type SessionBatchOptions,
  type ToolSession,
} from '@ethosagent/core';
import { assertOptions, isBoolean, isOneOf, isString, type OptionNames } from '@ethosagent/policy';
import type { ToolRunnableConfig } from '@langchain/core/tools';
import { executeOne, GraphCalls } from './graph-calls.js';
import { graphTaskOf } from './graph-task.js';
import { type LangchainTool, SessionTool } from './session-tool.js';
import { outputOf } from './tool-output.js';

export interface LangchainToolsOptions
  extends Pick<SessionBatchOptions, 'attachments' | 'onProgress' | 'tools'> {
  /**
   * The most characters of a result, since each call is a batch of its own. 80,000 when absent. A
   * step with many calls may so bring many times as much.
   */
  resultBudgetChars?: number;
  /**
   * Who asks for approval. With `interrupt`, the default, the graph is interrupted. Outside a
   * graph, or without a checkpointer, the call then fails, and waits in `session.pending()`. With
   * `session`, the call waits while the session asks its `approve`.
   */
  approvals?: 'interrupt' | 'session';
  /** The name of the person who answers interrupts, for the record, if the answer has no name. */
  by?: string;
  /**
   * Whether the model gets the images of a result. With `false` they are only in the artifact, for
   * models that accept no images in results of tools. `true` when absent.
   */
  images?: boolean;
}

const OPTIONS: OptionNames<LangchainToolsOptions> = {
  attachments: true,
  resultBudgetChars: true,
  onProgress: true,
  tools: true,
  approvals: [isOneOf(['interrupt', 'session']), "'interrupt' or 'session'"],
  by: [isString, 'a text'],
  images: [isBoolean, 'true or false'],
};

/**
 * Returns the tools of a session for agents of LangChain and nodes of LangGraph. The session
 * validates, asks, runs, marks and records each call.
 *
 * A call returns a `ToolMessage`. Its content is for the model, and its `artifact`, a
 * `ToolArtifact`, is for the program. Its status is `error` if the call failed. A call without an
 * id, which a program makes, returns only the content, and throws a `ToolCallError` if it fails.
 *
 * @param session the session of the tools
 * @param options the tools to offer, who asks for approval, and further settings
 * @returns the tools
 * @throws `CONFIG_INVALID` if the personality or an option is not valid
 *
 * @example
 * ```ts
 * import { createAgent } from 'langchain';
 * const agent = createAgent({ model, tools: await toLangchainTools(runtime.session('first')) });
 * ```
 */
export async function toLangchainTools(
  session: ToolSession,
  options: LangchainToolsOptions = {},
): Promise<LangchainTool[]> {
  assertToolSession('toLangchainTools', session);
  assertOptions('toLangchainTools', options, OPTIONS);
  assertBatchValues('toLangchainTools', options);
  const { approvals = 'interrupt', by, images = true, ...batch } = options;
  const offered = new Set(batch.tools);
  const definitions = (await session.definitions()).filter(
    ({ name }) => batch.tools === undefined || offered.has(name),
  );
  const names = new Set(definitions.map(({ name }) => name));
  const inGraphs = new GraphCalls({
    session,
    names,
    interrupts: approvals === 'interrupt',
    by,
  });

  async function run(name: string, args: unknown, config: ToolRunnableConfig) {
    const { signal, toolCall } = config;
    const call = { toolCallId: toolCall?.id ?? randomUUID(), name, args };
    const batchOptions = { ...batch, ...(signal !== undefined && { abortSignal: signal }) };
    // The id identifies the call when its node runs again.
    const task = toolCall?.id === undefined ? undefined : graphTaskOf(config);
    const answer =
      task === undefined
        ? await executeOne(session, { call, options: batchOptions })
        : await inGraphs.run(task, call, batchOptions);
    if (!answer.result.ok && answer.result.cause === 'CALL_ABORTED') signal?.throwIfAborted();
    return outputOf(answer, { toolCallId: toolCall?.id, images });
  }

  return definitions.map(
    (definition) =>
      new SessionTool(definition, (args, config) => run(definition.name, args, config)),
  );
}
