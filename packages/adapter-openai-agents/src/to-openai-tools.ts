import { randomUUID } from 'node:crypto';
import {
  assertBatchValues,
  assertToolSession,
  type SessionBatchOptions,
  type SessionResult,
  ToolCallError,
  type ToolSession,
} from '@ethosagent/core';
import { assertOptions, isString, type OptionNames } from '@ethosagent/policy';
import { EthosError, type ToolDefinition } from '@ethosagent/types';
import { type FunctionTool, type RunContext, type ToolInputParameters, tool } from '@openai/agents';
import { Approvals } from './approvals.js';
import { customDataOf, type OpenAiToolOutput, outputOf } from './output.js';

/** The JSON Schema of arguments in the framework's type. */
type ToolParameters = Extract<ToolInputParameters, { additionalProperties: true }>;

/** A tool of a session, for the `tools` of an `Agent`. */
// biome-ignore lint/suspicious/noExplicitAny: the only context that agents of every context take
export type OpenAiTool = FunctionTool<any, ToolParameters, OpenAiToolOutput>;

export interface OpenAiToolsOptions
  extends Pick<SessionBatchOptions, 'attachments' | 'onProgress' | 'tools'> {
  /** The name of the person who approves, for the record. */
  by?: string;
}

const OPTIONS: OptionNames<OpenAiToolsOptions> = {
  attachments: true,
  tools: true,
  by: [isString, 'a text'],
  onProgress: true,
};

/**
 * Returns the tools of a session for an `Agent`. The session validates, asks, runs, marks and
 * records each call. The framework parses the JSON of the arguments, and shows the questions of the
 * session as `interruptions`.
 *
 * The `customData` of a result's item has more facts for the program: `ok` and `durationMs`, with
 * `structured` and `costUsd` for a success, or `code` and `cause` for a failure.
 *
 * @param session the session of the tools
 * @param options the tools to offer, the attachments of the turn, who decides, and a callback for
 * progress
 * @returns the tools
 * @throws `CONFIG_INVALID` if the personality or an option is not valid, or if two tools have the same name in
 * the framework
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
  assertToolSession('toOpenAiTools', session);
  assertOptions('toOpenAiTools', options, OPTIONS);
  assertBatchValues('toOpenAiTools', options);
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
          ...(options.attachments !== undefined && { attachments: options.attachments }),
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

/**
 * Returns a schema in the framework's type. The type has only two forms of `additionalProperties`,
 * but the framework passes on any.
 */
function parametersOf(schema: Record<string, unknown>): ToolParameters {
  return Object.assign(
    { type: 'object' as const, properties: {}, required: [], additionalProperties: true as const },
    schema,
  );
}
