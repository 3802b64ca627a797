import { randomUUID } from 'node:crypto';
import { type SessionResult, ToolCallError, type ToolSession } from '@ethosagent/core';
import { EthosError, type ToolDefinition, type ToolProgressEvent } from '@ethosagent/types';
import { type FunctionTool, type RunContext, type ToolInputParameters, tool } from '@openai/agents';
import { Approvals } from './approvals.js';
import { customDataOf, type OpenAiToolOutput, outputOf } from './output.js';

/** The JSON Schema of arguments in the framework's type. */
type ToolParameters = Extract<ToolInputParameters, { additionalProperties: true }>;

/** A tool of a session, for the `tools` of an `Agent`. */
// biome-ignore lint/suspicious/noExplicitAny: the only context that agents of every context take
export type OpenAiTool = FunctionTool<any, ToolParameters, OpenAiToolOutput>;

export interface OpenAiToolsOptions {
  /** The names of the tools that the model gets, of those that the personality has. */
  tools?: readonly string[];
  /** Who approves, for the record. */
  by?: string;
  /** Progress for the audiences `user` and `dashboard`. */
  onProgress?: (event: ToolProgressEvent, toolCallId: string) => void;
}

/**
 * The tools of a session for an `Agent`. The session validates, asks, marks and refuses. The
 * framework parses the JSON, and shows the questions of the session as `interruptions`.
 *
 * The program finds more about a result in `customData` of its item: `ok`, `durationMs`, and
 * `structured` and `costUsd`, or `code` and `cause`.
 *
 * @param session whose tools they are
 * @param options which tools, and who decides
 * @returns the tools
 * @throws `CONFIG_INVALID` where the personality is not valid, or the framework has one name for two tools
 *
 * @example
 * ```ts
 * import { Agent } from '@openai/agents';
 * const agent = new Agent({ name: 'Reader', tools: await toOpenAiTools(runtime.session('first')) });
 * ```
 */
export async function toOpenAiTools(
  session: ToolSession,
  options: OpenAiToolsOptions = {},
): Promise<OpenAiTool[]> {
  const { tools, by } = options;
  const isOffered = (name: string) => tools === undefined || tools.includes(name);
  const definitions = (await session.definitions()).filter(({ name }) => isOffered(name));
  const names = new Map<string, string>();
  const approvals = new Approvals({ session, nameOf: (name) => names.get(name) ?? name, by });
  await approvals.load();
  const shared: Shared = { options, approvals, isListed: createListing(session) };
  const made = definitions.map((definition) => toOpenAiTool(definition, shared));
  for (const [index, { name }] of definitions.entries()) {
    const given = made[index]?.name ?? name;
    const same = [...names].find(([, other]) => other === given);
    if (same !== undefined) {
      throw new EthosError(
        'CONFIG_INVALID',
        `the framework has one name, ${given}, for the tools ${same[0]} and ${name}; leave one of them out with \`tools\``,
      );
    }
    names.set(name, given);
  }
  return made;
}

interface Shared {
  options: OpenAiToolsOptions;
  approvals: Approvals;
  isListed: (name: string) => Promise<boolean>;
}

function toOpenAiTool(
  { name, description, parameters }: ToolDefinition,
  shared: Shared,
): OpenAiTool {
  const { options, approvals, isListed } = shared;
  // Results are kept until the framework asks for their `customData`.
  const results = new WeakMap<RunContext<unknown>, Map<string, SessionResult>>();
  return tool<ToolParameters, unknown, OpenAiToolOutput>({
    name,
    description,
    parameters: parametersOf(parameters),
    strict: false,
    isEnabled: async ({ runContext }) => {
      await approvals.carryNo(runContext);
      return isListed(name);
    },
    needsApproval: async (run, args, callId) =>
      callId !== undefined && (await approvals.mustAsk({ toolCallId: callId, name, args }, run)),
    execute: async (args, run, details) => {
      const call = { toolCallId: details?.toolCall?.callId ?? randomUUID(), name, args };
      const abortSignal = details?.signal;
      const answer = await approvals.execute(call, {
        run,
        options: {
          ...(abortSignal !== undefined && { abortSignal }),
          ...(options.tools !== undefined && { tools: options.tools }),
          ...(options.onProgress !== undefined && { onProgress: options.onProgress }),
        },
      });
      if (run !== undefined) remember(results, run, answer);
      const { result } = answer;
      if (result.ok) return outputOf(answer);
      if (result.cause === 'CALL_ABORTED') abortSignal?.throwIfAborted();
      throw new ToolCallError(answer);
    },
    errorFunction: (_, error) =>
      error instanceof ToolCallError
        ? error.message
        : 'execution_failed: the call did not come to its tool; the arguments must be a JSON object',
    customDataExtractor: ({ runContext, toolCall: { callId } }) => {
      const answers = results.get(runContext);
      const answer = answers?.get(callId);
      answers?.delete(callId);
      return answer === undefined ? undefined : customDataOf(answer);
    },
  });
}

function remember(
  results: WeakMap<RunContext<unknown>, Map<string, SessionResult>>,
  run: RunContext<unknown>,
  answer: SessionResult,
): void {
  const answers = results.get(run) ?? new Map<string, SessionResult>();
  results.set(run, answers.set(answer.toolCallId, answer));
}

/** Tells whether the personality has a tool now. The tools of one step are looked up together. */
function createListing(session: ToolSession): (name: string) => Promise<boolean> {
  let step: { listing: Promise<ReadonlySet<string>>; asked: Set<string> } | undefined;
  return async (name) => {
    if (step === undefined || step.asked.has(name)) {
      const listing = session.definitions().then((list) => new Set(list.map((each) => each.name)));
      const current = { listing, asked: new Set<string>() };
      step = current;
      const end = () => {
        setImmediate(() => {
          if (step === current) step = undefined;
        });
      };
      listing.then(end, end);
    }
    step.asked.add(name);
    return (await step.listing).has(name);
  };
}

/** The framework's type has only two forms of `additionalProperties`, but it passes on any. */
function parametersOf(schema: Record<string, unknown>): ToolParameters {
  return Object.assign(
    { type: 'object' as const, properties: {}, required: [], additionalProperties: true as const },
    schema,
  );
}
