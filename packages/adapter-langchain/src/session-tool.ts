import type { ToolDefinition } from '@ethosagent/types';
import { DynamicStructuredTool, type ToolRunnableConfig, tool } from '@langchain/core/tools';
import type { JSONSchema } from '@langchain/core/utils/json_schema';
import type { ToolOutput } from './tool-output.js';

type Run = (args: unknown, config: ToolRunnableConfig) => Promise<ToolOutput>;

/** A tool of a session, for agents, `ToolNode` and `bindTools`. */
export type LangchainTool = DynamicStructuredTool<JSONSchema>;

/**
 * A tool whose arguments are validated only by its session. The framework's validator changes
 * schemas and fails for some of them, and its message does not tell the model what is wrong.
 */
export class SessionTool extends DynamicStructuredTool<JSONSchema> {
  readonly #unvalidated: LangchainTool;

  constructor({ name, description, parameters }: ToolDefinition, run: Run) {
    const fields = { name, description, responseFormat: 'content_and_artifact' as const };
    const unvalidated = tool(run, { ...fields, schema: {} });
    super({ ...fields, schema: parameters, func: unvalidated.func });
    this.#unvalidated = unvalidated;
  }

  override call: LangchainTool['call'] = (args, config, tags) =>
    this.#unvalidated.call(args, config, tags);
}
