import { randomUUID } from 'node:crypto';
import type { SessionBatchOptions, ToolSession } from '@ethosagent/core';
import type { ToolRunnableConfig } from '@langchain/core/tools';
import { executeOne, GraphCalls } from './graph-calls.js';
import { graphTaskOf } from './graph-task.js';
import { type LangchainTool, SessionTool } from './session-tool.js';
import { outputOf } from './tool-output.js';

export interface LangchainToolsOptions
  extends Pick<SessionBatchOptions, 'attachments' | 'onProgress' | 'resultBudgetChars' | 'tools'> {
  /**
   * Who asks for approval. `interrupt`: the graph is interrupted, the default; outside a graph, or
   * without a checkpointer, the call is refused and waits in `session.pending()`. `session`: the
   * `approve` of the session, while the call waits.
   */
  approvals?: 'interrupt' | 'session';
  /** Who answers interrupts, for the record, where the answer does not say. */
  by?: string;
  /** `false`: images are left to the artifact, for models that take none in results of tools. */
  images?: boolean;
}

/**
 * The tools of a session for agents of LangChain and nodes of LangGraph. The session validates, asks,
 * runs, marks and records.
 *
 * A call gives a `ToolMessage`: what the model reads is its content, what the program may know its
 * `artifact`, a `ToolArtifact`. Its status is `error` where the call failed. A call without an id,
 * by a program, gives the content alone, and throws a `ToolCallError` where it fails.
 *
 * @param session whose tools they are
 * @param options which tools, and further settings
 * @returns the tools
 * @throws `CONFIG_INVALID` where the personality is not valid
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
