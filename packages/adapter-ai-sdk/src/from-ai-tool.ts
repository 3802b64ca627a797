import { randomUUID } from 'node:crypto';
import { assertForeignTool, type ResultImage } from '@ethosagent/core';
import {
  assertOptions,
  errorText,
  isBoolean,
  isObject,
  type OptionNames,
} from '@ethosagent/policy';
import {
  EthosError,
  type Tool as EthosTool,
  type ToolContext,
  type ToolResult,
} from '@ethosagent/types';
import { asSchema, type Tool } from 'ai';
import type { ModelOutput } from './ai-types.js';

export interface FromAiToolOptions {
  /**
   * Whether calls need approval. With `false`, they need it only if the tool's own `needsApproval`
   * says so. `true` when absent.
   */
  approval?: boolean;
  /** The value that the tool gets as its `context` and as its `experimental_context`. */
  context?: Record<string, unknown>;
}

const OPTIONS: OptionNames<FromAiToolOptions> = {
  approval: [isBoolean, 'true or false'],
  context: [isObject, 'an object'],
};

/**
 * Makes a tool of a runtime from a tool of `ai`. Its function keeps the authority of this process:
 * nothing that it touches is declared, bounded or audited. Each call therefore needs approval, and
 * its output is untrusted.
 *
 * The tool's own validation runs with the call, after the approval. Errors that the tool throws,
 * and outputs that `toModelOutput` turns into errors, become `execution_failed`. Data is in the
 * result as JSON and as `structured.output`, and images are in `structured.images`.
 *
 * @param name the name of the tool, since a tool of `ai` has none
 * @param tool the tool of `ai`
 * @param options `approval: false` lets calls run without approval; `context`: a value for the
 * function
 * @returns the tool; register it in a runtime
 * @throws `CONFIG_INVALID` for an invalid option
 * @throws `TOOL_INVALID` for something else than a tool, or for a tool without `execute`, which the
 * model's provider or a client runs
 */
export async function fromAiTool(
  name: string,
  tool: Tool,
  options: FromAiToolOptions = {},
): Promise<EthosTool> {
  assertForeignTool('fromAiTool', tool);
  assertOptions('fromAiTool', options, OPTIONS);
  const { approval = true, context = {} } = options;
  if (typeof tool.execute !== 'function' || tool.type === 'provider') {
    throw new EthosError(
      'TOOL_INVALID',
      `${name} has no function that runs here; leave it to the provider, or give it an \`execute\``,
    );
  }
  const { jsonSchema } = asSchema(tool.inputSchema);
  const { needsApproval = false } = tool;
  return {
    name,
    description: descriptionOf(tool, context),
    schema: { ...(await jsonSchema) },
    capabilities: {},
    effects: ['write', 'send', 'spawn'],
    outputIsUntrusted: true,
    unconfined: true,
    // If the tool says nothing, every call of it needs an approval, since it is not confined.
    ...(!approval && { requiresApproval: needsApproval !== false }),
    execute: (args, ctx) => run(tool, args, { toolName: name, ctx, context }),
  };
}

/** Returns the description of a tool. In `ai` 7 it may be a function. */
function descriptionOf({ description }: { description?: unknown }, context: unknown): string {
  if (typeof description !== 'function') return String(description ?? '');
  return String(Reflect.apply(description, undefined, [{ context }]));
}

interface Running {
  toolName: string;
  ctx: ToolContext;
  context: Record<string, unknown>;
}

async function run(
  tool: Tool,
  issued: unknown,
  { toolName, ctx, context }: Running,
): Promise<ToolResult> {
  try {
    // The tool's own validation is code of the tool, so it runs only after the approval.
    const validated = await asSchema(tool.inputSchema).validate?.(issued);
    if (validated?.success === false) {
      return { ok: false, code: 'input_invalid', error: errorText(validated.error) };
    }
    const input = validated === undefined ? issued : validated.value;
    const { toolCallId = randomUUID(), abortSignal } = ctx;
    const call = {
      toolCallId,
      messages: [],
      abortSignal,
      context,
      experimental_context: context,
    };
    const said: unknown = tool.execute?.(input, call);
    const output = isStream(said) ? await lastOf(said, { toolName, ctx }) : await said;
    if (tool.toModelOutput === undefined) return asResult(plainOutput(output), output);
    return asResult(await tool.toModelOutput({ toolCallId, input, output }), output);
  } catch (error) {
    return failed(errorText(error));
  }
}

function plainOutput(output: unknown): ModelOutput {
  return { type: 'text', value: typeof output === 'string' ? output : jsonText(output) };
}

function asResult(shown: ModelOutput, output: unknown): ToolResult {
  const structured: Record<string, unknown> = {};
  if (typeof output === 'object' && output !== null)
    structured.output = JSON.parse(jsonText(output));
  switch (shown.type) {
    case 'text':
      return { ok: true, value: shown.value, structured };
    case 'json':
      return { ok: true, value: jsonText(shown.value), structured };
    case 'error-text':
      return failed(shown.value);
    case 'error-json':
      return failed(jsonText(shown.value));
    case 'execution-denied':
      return failed(shown.reason ?? 'the tool refused the call');
    case 'content': {
      const parts: readonly Part[] = shown.value;
      const images = parts.flatMap(imageOf);
      if (images.length > 0) structured.images = images;
      return { ok: true, value: parts.flatMap(textOf).join('\n'), structured };
    }
  }
}

function failed(error: string): ToolResult {
  return { ok: false, code: 'execution_failed', error };
}

/**
 * Writes a value as JSON.
 * @throws an error if the value is not data
 */
function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

interface Part {
  type: string;
  text?: unknown;
  mediaType?: unknown;
  data?: unknown;
}

function textOf(part: Part): string[] {
  if (typeof part.text === 'string') return [part.text];
  return imageOf(part).length > 0 ? [] : [`[${part.type} left out]`];
}

function imageOf({ mediaType, data }: Part): ResultImage[] {
  if (typeof mediaType !== 'string' || !mediaType.startsWith('image/')) return [];
  return typeof data === 'string' ? [{ mediaType, data }] : [];
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Returns the last output. Outputs before the last one become progress messages of the tool. */
async function lastOf(
  outputs: AsyncIterable<unknown>,
  { toolName, ctx }: { toolName: string; ctx: ToolContext },
): Promise<unknown> {
  let last: unknown;
  let count = 0;
  for await (const output of outputs) {
    last = output;
    count += 1;
    ctx.emit({ type: 'progress', toolName, message: `output ${count}` });
    // Nobody reads on. Leaving the loop also ends the tool's generator.
    if (ctx.abortSignal.aborted) break;
  }
  return last;
}
