import { randomUUID } from 'node:crypto';
import { assertForeignTool } from '@ethosagent/core';
import {
  assertOptions,
  errorText,
  isBoolean,
  isObject,
  type OptionNames,
} from '@ethosagent/policy';
import { EthosError, type Tool, type ToolContext, type ToolResult } from '@ethosagent/types';
import { RequestContext } from '@mastra/core/request-context';
import { standardSchemaToJSONSchema } from '@mastra/core/schema';
import {
  isValidationError,
  type Tool as MastraTool,
  noopObserve,
  validateToolInput,
} from '@mastra/core/tools';
import { foreignResult } from './foreign-output.js';

// biome-ignore lint/suspicious/noExplicitAny: the only type that a tool of any schemas and context is assignable to
export type ForeignMastraTool = MastraTool<any, any, any, any, any, any, any>;

export interface FromMastraToolOptions {
  /**
   * Whether calls need approval. With `false`, they need it only if the tool's own
   * `requireApproval` says so. `true` when absent.
   */
  approval?: boolean;
  /** The value that the tool gets as its `requestContext`. An empty one when absent. */
  requestContext?: RequestContext;
}

const OPTIONS: OptionNames<FromMastraToolOptions> = {
  approval: [isBoolean, 'true or false'],
  requestContext: [isObject, 'an object'],
};

/**
 * Makes a tool of a runtime from a tool of Mastra. Its name is the `id` of the tool. Its function
 * keeps the authority of this process: nothing that it touches is declared, bounded or audited.
 * Each call therefore needs approval, its output is untrusted, and it counts as a call with every
 * effect.
 *
 * @param foreign the tool of Mastra
 * @param options `approval: false` lets calls run without approval; `requestContext`: a value for
 * the function
 * @returns the tool; register it in a runtime
 * @throws `CONFIG_INVALID` for an invalid option
 * @throws `TOOL_INVALID` for something else than a tool, or for a tool without `execute`, which a
 * client runs
 */
export function fromMastraTool(
  foreign: ForeignMastraTool,
  options: FromMastraToolOptions = {},
): Tool<Record<string, unknown>> {
  assertForeignTool('fromMastraTool', foreign);
  assertOptions('fromMastraTool', options, OPTIONS);
  const { id: name, description, inputSchema, execute } = foreign;
  if (typeof execute !== 'function') {
    throw new EthosError(
      'TOOL_INVALID',
      `${name} has no function that runs here; give it an \`execute\``,
    );
  }
  const { approval = true } = options;
  return {
    name,
    description,
    schema: inputSchema
      ? { ...standardSchemaToJSONSchema(inputSchema, { io: 'input' }) }
      : { type: 'object', properties: {} },
    capabilities: {},
    unconfined: true,
    effects: ['write', 'send', 'spawn'],
    outputIsUntrusted: true,
    requiresApproval: approval ? true : (args) => asksItself(foreign, structuredClone(args)),
    execute: (args, ctx) => run(foreign, args, { ctx, options }),
  };
}

async function asksItself(foreign: ForeignMastraTool, args: unknown): Promise<boolean> {
  const { needsApprovalFn, requireApproval = false } = foreign;
  const asks = needsApprovalFn ?? requireApproval;
  return typeof asks === 'function' ? asks(args, {}) : asks;
}

interface Running {
  ctx: ToolContext;
  options: FromMastraToolOptions;
}

async function run(
  foreign: ForeignMastraTool,
  args: unknown,
  { ctx, options }: Running,
): Promise<ToolResult> {
  const { id, inputSchema, execute } = foreign;
  let isSuspended = false;
  const suspend = async () => {
    isSuspended = true;
  };
  const { toolCallId = randomUUID(), abortSignal } = ctx;
  try {
    // The tool's own validation is code of the tool, so it runs only after the approval.
    const { error } = validateToolInput(inputSchema, args, id);
    if (error !== undefined) return { ok: false, code: 'input_invalid', error: error.message };
    const output: unknown = await execute?.(args, {
      requestContext: options.requestContext ?? new RequestContext(),
      abortSignal,
      observe: noopObserve,
      agent: { agentId: '', toolCallId, messages: [], suspend },
    });
    if (isSuspended) return failed('the tool suspended its call, and nothing resumes it here');
    if (isValidationError(output)) return failed(output.message);
    return await foreignResult(output, foreign.toModelOutput);
  } catch (error) {
    return failed(errorText(error));
  }
}

function failed(error: string): ToolResult {
  return { ok: false, code: 'execution_failed', error };
}
