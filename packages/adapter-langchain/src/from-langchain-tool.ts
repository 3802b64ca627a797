import { randomUUID } from 'node:crypto';
import { assertForeignTool } from '@ethosagent/core';
import {
  assertOptions,
  errorText,
  isBoolean,
  isObject,
  type OptionNames,
} from '@ethosagent/policy';
import type { Tool, ToolContext, ToolResult } from '@ethosagent/types';
import type { RunnableConfig } from '@langchain/core/runnables';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { ToolInputParsingException } from '@langchain/core/tools';
import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { isInteropZodSchema } from '@langchain/core/utils/types';
import { resultOf } from './foreign-output.js';

/** A tool of LangChain, of any kind. */
export interface ForeignLangchainTool {
  name: string;
  description?: string | undefined;
  /** The schema of the arguments: JSON Schema, or a schema of Zod. */
  schema: object;
  /** Runs the tool. */
  invoke(input: ForeignToolCall, config?: RunnableConfig): Promise<unknown>;
}

/** A call in the form in which such a tool takes it from a model. */
export interface ForeignToolCall {
  type: 'tool_call';
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface FromLangchainToolOptions {
  /** Whether calls need approval. `true` when absent. */
  approval?: boolean;
  /** The value that the tool gets as `configurable` of its config. */
  configurable?: Record<string, unknown>;
}

const OPTIONS: OptionNames<FromLangchainToolOptions> = {
  approval: [isBoolean, 'true or false'],
  configurable: [isObject, 'an object'],
};

/**
 * Makes a tool of a runtime from a tool of LangChain. Its function keeps the authority of this
 * process: nothing that it touches is declared, bounded or audited. Each call therefore needs
 * approval, and its output is untrusted.
 *
 * The tool runs outside any graph. If it interrupts, or returns a `Command` for the graph, the call
 * fails.
 *
 * @param foreign the tool of LangChain
 * @param options `approval: false` lets calls run without approval; `configurable`: a value for the
 * function
 * @returns the tool; register it in a runtime
 * @throws `CONFIG_INVALID` for an invalid option
 * @throws `TOOL_INVALID` for something else than a tool
 */
export function fromLangchainTool(
  foreign: ForeignLangchainTool,
  options: FromLangchainToolOptions = {},
): Tool<Record<string, unknown>> {
  assertForeignTool('fromLangchainTool', foreign);
  assertOptions('fromLangchainTool', options, OPTIONS);
  const { approval = true, configurable = {} } = options;
  const { name, description = '' } = foreign;
  return {
    name,
    description,
    schema: schemaOf(foreign),
    capabilities: {},
    effects: ['write', 'send', 'spawn'],
    outputIsUntrusted: true,
    unconfined: true,
    // Without this, every call of the tool would need an approval, since it is not confined.
    ...(!approval && { requiresApproval: false }),
    execute: (args, ctx) => run(foreign, args, { ctx, configurable }),
  };
}

/** Copies the schema, since the framework changes the schemas with which it validates. */
function schemaOf({ schema }: ForeignLangchainTool): Record<string, unknown> {
  // The schema of the input: a property with a default may be left out.
  const json = isInteropZodSchema(schema) ? toJsonSchema(schema, { io: 'input' }) : schema;
  return structuredClone({ ...json });
}

async function run(
  foreign: ForeignLangchainTool,
  args: Record<string, unknown>,
  { ctx, configurable }: { ctx: ToolContext; configurable: Record<string, unknown> },
): Promise<ToolResult> {
  const { name } = foreign;
  const { toolCallId: id = randomUUID(), abortSignal: signal } = ctx;
  const call = { type: 'tool_call' as const, id, name, args };
  try {
    return resultOf(await outsideOfGraph(() => foreign.invoke(call, { signal, configurable })));
  } catch (error) {
    const code = error instanceof ToolInputParsingException ? 'input_invalid' : 'execution_failed';
    return { ok: false, code, error: errorText(error) };
  }
}

/**
 * Keeps only the tracing of a run. The values with which a graph is resumed are for the calls of
 * the session, and a tool must not take them.
 */
function outsideOfGraph<T>(task: () => Promise<T>): Promise<T> {
  const { callbacks, tags, metadata }: RunnableConfig =
    AsyncLocalStorageProviderSingleton.getRunnableConfig() ?? {};
  const config = {
    ...(callbacks !== undefined && { callbacks }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
  };
  return AsyncLocalStorageProviderSingleton.runWithConfig(config, task);
}
