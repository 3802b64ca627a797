import { randomUUID } from 'node:crypto';
import {
  assertBatchValues,
  assertToolSession,
  type SessionBatchOptions,
  type SessionResult,
  ToolCallError,
  type ToolSession,
} from '@ethosagent/core';
import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { EthosError, type ToolDefinition } from '@ethosagent/types';
import { Tool, type ToolExecutionContext } from '@mastra/core/tools';
import { resumeCall, runCall } from './run-call.js';
import { openSchema, outputSchema } from './schemas.js';
import { questionOf, suspensionOf } from './suspension.js';
import { modelOutput, outputOf, type ToolOutput } from './tool-output.js';

/** A tool of a session, for the `tools` of an `Agent`. */
export type MastraTool = Tool<unknown, ToolOutput>;

/** The tools to offer, and options of their calls. */
export interface MastraToolsOptions
  extends Pick<SessionBatchOptions, 'tools' | 'attachments' | 'dryRun' | 'onProgress'> {
  /**
   * The most characters of a result, since each call is a batch of its own. 80,000 when absent. A
   * step with many calls may so bring many times as much.
   */
  resultBudgetChars?: number;
}

/** The arguments that Mastra removes or adds. */
const TAKEN_ARGUMENTS = ['resumeData', 'suspendedToolCallId', 'suspendedToolRunId', '_background'];
/** Mastra takes tools with such names for agents and workflows. */
const TAKEN_NAMES = /^(agent|workflow)-/;

const OPTIONS: OptionNames<MastraToolsOptions> = {
  attachments: true,
  resultBudgetChars: true,
  tools: true,
  dryRun: true,
  onProgress: true,
};

/**
 * Returns the tools of a session for an `Agent` of Mastra. The session validates, asks, runs, marks
 * and records each call. A call that needs approval suspends the run; `answerApproval` passes the
 * decision to the session. A call that fails throws a `ToolCallError`.
 *
 * @param session the session of the tools
 * @param options the tools to offer, and options of their calls
 * @returns the tools by their names
 * @throws `CONFIG_INVALID` if the personality or an option is not valid, or if the name or an argument of a tool
 * has another meaning in Mastra
 *
 * @example
 * ```ts
 * import { Agent } from '@mastra/core/agent';
 * const tools = await mastraTools(runtime.session('first'));
 * const reader = new Agent({ id: 'reader', name: 'Reader', instructions: 'Read.', model, tools });
 * ```
 */
export async function mastraTools(
  session: ToolSession,
  options: MastraToolsOptions = {},
): Promise<Record<string, MastraTool>> {
  assertToolSession('mastraTools', session);
  assertOptions('mastraTools', options, OPTIONS);
  assertBatchValues('mastraTools', options);
  const { tools: offered } = options;
  const definitions = await session.definitions();
  const made: Record<string, MastraTool> = {};
  for (const definition of definitions) {
    const { name } = definition;
    if (offered !== undefined && !offered.includes(name)) continue;
    assertMeansTheSame(definition);
    // `__proto__` is a valid name too.
    Object.defineProperty(made, name, {
      value: mastraTool(definition, { session, options }),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return made;
}

function assertMeansTheSame({ name, parameters }: ToolDefinition): void {
  const taken = TAKEN_ARGUMENTS.find((each) => Object.hasOwn(Object(parameters.properties), each));
  if (taken === undefined && !TAKEN_NAMES.test(name)) return;
  const what = taken === undefined ? 'the name' : `the argument ${taken}`;
  throw new EthosError(
    'CONFIG_INVALID',
    `Mastra means something else by ${what} of the tool ${name}; leave the tool out with \`tools\``,
  );
}

interface ToolParts {
  session: ToolSession;
  options: MastraToolsOptions;
}

function mastraTool(definition: ToolDefinition, { session, options }: ToolParts): MastraTool {
  const { name, description, parameters } = definition;
  return new Tool<unknown, ToolOutput>({
    id: name,
    description,
    // Otherwise Mastra rewrites the schema for some models, and validates against the result.
    strict: false,
    inputSchema: openSchema(parameters),
    outputSchema,
    // With a schema for suspension, Mastra runs the calls of a step one after another, which its
    // suspended runs need.
    suspendSchema: openSchema({}),
    resumeSchema: openSchema({
      properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
      required: ['approved'],
    }),
    toModelOutput: modelOutput,
    execute: async (args, context) => {
      const { toolCallId, abortSignal, suspend, resumed } = callOf(context);
      const call = { toolCallId, name, args };
      const run = {
        session,
        options: { ...options, ...(abortSignal !== undefined && { abortSignal }) },
      };
      const answer = await (resumed === undefined
        ? runCall(call, run)
        : resumeCall(call, { ...run, reason: resumed.reason }));
      if (answer.approval !== undefined && suspend !== undefined) {
        await suspend(suspensionOf(answer.approval));
        return;
      }
      return outputOrThrow(answer, abortSignal);
    },
  });
}

/**
 * Returns the output of a call.
 * @throws `ToolCallError` if the call failed, or the reason of the signal if it was aborted
 */
function outputOrThrow(answer: SessionResult, abortSignal: AbortSignal | undefined): ToolOutput {
  const { result } = answer;
  if (result.ok) return outputOf(answer);
  if (result.cause === 'CALL_ABORTED') abortSignal?.throwIfAborted();
  throw new ToolCallError(answer);
}

/** Returns the details that Mastra gives for a call: in an agent, in a workflow, or alone. */
function callOf(context: ToolExecutionContext | undefined) {
  const host = context?.agent ?? context?.workflow ?? context;
  // The data of a suspension comes from the snapshot of the run. Resume data alone proves nothing:
  // the model can write it into its arguments.
  const question = questionOf(host?.suspendPayload);
  const { reason, approved }: { reason?: unknown; approved?: unknown } = Object(host?.resumeData);
  const isRefusal = approved === false && typeof reason === 'string';
  return {
    toolCallId: context?.agent?.toolCallId || question?.toolCallId || randomUUID(),
    abortSignal: context?.abortSignal,
    suspend: host?.suspend,
    resumed: question && { reason: isRefusal ? reason : undefined },
  };
}
