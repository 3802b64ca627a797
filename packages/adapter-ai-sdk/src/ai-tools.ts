import { ReadableStream } from 'node:stream/web';
import {
  assertBatchValues,
  assertToolSession,
  type SessionBatchOptions,
  ToolCallError,
  type ToolSession,
} from '@ethosagent/core';
import { assertOptions, isBoolean, isOneOf, isString, type OptionNames } from '@ethosagent/policy';
import type { ToolDefinition, ToolProgressEvent } from '@ethosagent/types';
import { jsonSchema, type Tool, tool } from 'ai';
import type { CallOptions } from './ai-types.js';
import { Approvals } from './approvals.js';
import { modelOutput, outputOf, ToolOutput } from './tool-output.js';

/** A tool of a session, in the form of `ai`. */
export type AiTool = Tool<unknown, ToolOutput>;

export interface AiToolsOptions extends Pick<SessionBatchOptions, 'attachments' | 'dryRun'> {
  /**
   * The most characters of a result, since each call is a batch of its own. 80,000 when absent. A
   * step with many calls may so bring many times as much.
   */
  resultBudgetChars?: number;
  /**
   * Who asks for approval. With `ai`, the default, the run pauses with a `tool-approval-request`.
   * With `session`, the call waits while the session asks its `approve`.
   */
  approvals?: 'ai' | 'session';
  /** The name of the person who answers approvals of `ai`, for the record. */
  by?: string;
  /**
   * Whether progress for users comes as preliminary results. The final result then also comes as a
   * preliminary one. `false` when absent.
   */
  progress?: boolean;
}

const OPTIONS: OptionNames<AiToolsOptions> = {
  attachments: true,
  resultBudgetChars: true,
  dryRun: true,
  approvals: [isOneOf(['ai', 'session']), "'ai' or 'session'"],
  by: [isString, 'a text'],
  progress: [isBoolean, 'true or false'],
};

/**
 * Returns the tools of a session for `generateText`, `streamText` and agents of `ai`. The session
 * validates, asks, runs, marks and records each call. A call that fails throws a `ToolCallError`.
 *
 * @param session the session of the tools
 * @param options who asks for approval, and further settings
 * @returns the tools by their names, for `tools` of `ai`
 * @throws `CONFIG_INVALID` if the personality or an option is not valid
 *
 * @example
 * ```ts
 * import { generateText, stepCountIs } from 'ai';
 * const tools = await aiTools(runtime.session('first'));
 * await generateText({ model, tools, prompt: 'Read notes.txt.', stopWhen: stepCountIs(5) });
 * ```
 */
export async function aiTools(
  session: ToolSession,
  options: AiToolsOptions = {},
): Promise<Record<string, AiTool>> {
  assertToolSession('aiTools', session);
  assertOptions('aiTools', options, OPTIONS);
  assertBatchValues('aiTools', options);
  const approvals = new Approvals(session, options.by);
  // Without a prototype, since a model may call a tool named `constructor`.
  const tools: Record<string, AiTool> = Object.create(null);
  for (const definition of await session.definitions()) {
    tools[definition.name] = aiTool(definition, { session, options, approvals });
  }
  return tools;
}

interface ToolParts {
  session: ToolSession;
  options: AiToolsOptions;
  approvals: Approvals;
}

function aiTool(
  { name, description, parameters }: ToolDefinition,
  { session, options, approvals }: ToolParts,
): AiTool {
  const { approvals: asker, by: _, progress, ...batch } = options;
  async function run(
    args: unknown,
    call: CallOptions,
    onProgress?: (event: ToolProgressEvent) => void,
  ): Promise<ToolOutput> {
    const { toolCallId, abortSignal } = call;
    const issued = { toolCallId, name, args };
    const result = await approvals.execute(issued, call, () =>
      session.execute([issued], {
        ...batch,
        ...(abortSignal !== undefined && { abortSignal }),
        ...(onProgress !== undefined && { onProgress }),
      }),
    );
    if (result === undefined) throw new TypeError(`${name} gave no result`);
    if (!result.result.ok) throw new ToolCallError(result);
    return outputOf(result);
  }
  return tool<unknown, ToolOutput>({
    description,
    // The session validates the arguments. Its message is the one that the model must read.
    inputSchema: jsonSchema<unknown>(
      { type: 'object', ...parameters },
      { validate: (value) => ({ success: true, value }) },
    ),
    ...(asker !== 'session' && {
      // In a dry run, `ai` must not ask: the session would keep an approval, and run the call later.
      needsApproval:
        batch.dryRun !== true &&
        (async (args: unknown, { toolCallId, messages }: CallOptions) =>
          (await approvals.question({ toolCallId, name, args }, { toolCallId, messages })) !==
          undefined),
    }),
    execute: (args, call) =>
      progress === true
        ? withProgress((onProgress) => run(args, call, onProgress))
        : run(args, call),
    toModelOutput: ({ output }) => modelOutput(output),
  });
}

function withProgress(
  run: (onProgress: (event: ToolProgressEvent) => void) => Promise<ToolOutput>,
): AsyncIterable<ToolOutput> {
  return new ReadableStream<ToolOutput>({
    async start(controller) {
      try {
        const onProgress = (progress: ToolProgressEvent) =>
          controller.enqueue(new ToolOutput({ text: '', progress }));
        controller.enqueue(await run(onProgress));
        controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
  });
}
