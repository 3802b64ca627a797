import { randomUUID } from 'node:crypto';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { assertForeignTool, type ResultImage } from '@ethosagent/core';
import { assertOptions, errorText, isBoolean, type OptionNames } from '@ethosagent/policy';
import { EthosError, type Tool, type ToolContext, type ToolResult } from '@ethosagent/types';

/** A tool with a `run` of its own, as `betaZodTool`, `betaTool` and `mcpTool` return it. */
// biome-ignore lint/suspicious/noExplicitAny: the only input that tools of every input have
export type ForeignAnthropicTool = BetaRunnableTool<any>;

export interface FromAnthropicToolOptions {
  /** Whether calls need approval. `true` when absent. */
  approval?: boolean;
}

const OPTIONS: OptionNames<FromAnthropicToolOptions> = {
  approval: [isBoolean, 'true or false'],
};

/**
 * Makes a tool of a runtime from a runnable tool of the SDK. Its function keeps the authority of
 * this process: nothing that it touches is declared, bounded or audited. Each call therefore needs
 * approval, and its output is untrusted.
 *
 * @param foreign the tool of the SDK
 * @param options `approval: false` lets calls run without approval
 * @returns the tool; register it in a runtime
 * @throws `CONFIG_INVALID` for an invalid option
 * @throws `TOOL_INVALID` for something else than a tool, or for a tool without a schema, such as one
 * whose type the API defines
 */
export function fromAnthropicTool(
  foreign: ForeignAnthropicTool,
  options: FromAnthropicToolOptions = {},
): Tool<Record<string, unknown>> {
  assertForeignTool('fromAnthropicTool', foreign);
  assertOptions('fromAnthropicTool', options, OPTIONS);
  const { approval = true } = options;
  const { name } = foreign;
  if (!('input_schema' in foreign)) {
    throw new EthosError(
      'TOOL_INVALID',
      `${name} has no \`input_schema\` to hold its arguments to; write it with \`betaTool\` or \`betaZodTool\``,
    );
  }
  const { description = '', input_schema } = foreign;
  return {
    name,
    description,
    schema: { ...input_schema },
    capabilities: {},
    unconfined: true,
    effects: ['write', 'send', 'spawn'],
    outputIsUntrusted: true,
    // Without this, every call of the tool would need an approval, since it is not confined.
    ...(!approval && { requiresApproval: false }),
    execute: (args, ctx) => run(foreign, args, ctx),
  };
}

async function run(
  foreign: ForeignAnthropicTool,
  args: Record<string, unknown>,
  { toolCallId = randomUUID(), abortSignal }: ToolContext,
): Promise<ToolResult> {
  let input: unknown;
  try {
    // `parse` is code of the tool, so it runs only after the approval.
    input = foreign.parse(args);
  } catch (error) {
    return { ok: false, code: 'input_invalid', error: errorText(error) };
  }
  try {
    const toolUse = { type: 'tool_use', id: toolCallId, name: foreign.name, input: args } as const;
    const context = { toolUse, toolUseBlock: toolUse, signal: abortSignal };
    return resultOf(await foreign.run(input, context));
  } catch (error) {
    const text = error instanceof ToolError ? textOf(error.content) : errorText(error);
    return { ok: false, code: 'execution_failed', error: text };
  }
}

type Content = NonNullable<ToolResultBlockParam['content']>;
type Block = Exclude<Content, string>[number];

function resultOf(content: Content): ToolResult {
  const images = Array.isArray(content) ? content.flatMap(imageOf) : [];
  return {
    ok: true,
    value: textOf(content),
    ...(images.length > 0 && { structured: { images } }),
  };
}

function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  // A tool in plain JavaScript may return nothing, or a value.
  if (!Array.isArray(content)) return JSON.stringify(content) ?? '';
  return content.map((block) => blockText(block)).join('\n');
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return imageOf(block).length > 0 ? '[image]' : '[image left out]';
    case 'document':
      return block.source.type === 'text' ? block.source.data : '[document left out]';
    case 'search_result':
      return [block.title, block.source, ...block.content.map(({ text }) => text)].join('\n');
    default:
      return `[${block.type} left out]`;
  }
}

/**
 * Returns an image whose bytes are in the result. An image behind a URL or the id of a file is not
 * fetched.
 */
function imageOf(block: Block): ResultImage[] {
  if (block.type !== 'image' || block.source.type !== 'base64') return [];
  return [{ mediaType: block.source.media_type, data: block.source.data }];
}
