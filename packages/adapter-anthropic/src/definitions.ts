import type { Tool } from '@anthropic-ai/sdk/resources/messages';
import type { ToolSession } from '@ethosagent/core';
import { EthosError, type ToolDefinition } from '@ethosagent/types';
import { inputSchemaOf } from './input-schema.js';

/** A tool as a request to the model has it. */
export interface AnthropicDefinition extends Pick<Tool, 'name' | 'description' | 'input_schema'> {
  type: 'custom';
  description: string;
}

export interface AnthropicDefinitionsOptions {
  /** The names of the tools that the model gets, of those that the personality has. */
  tools?: readonly string[];
}

// With any other name, the API refuses the whole request.
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * The tools of a session for `tools` of `client.messages.create`. The caller may change the copy.
 *
 * @param session whose tools they are
 * @param options `tools`: names of the tools to offer; all when absent
 * @returns the definitions
 * @throws `CONFIG_INVALID` where the personality is not valid, or the API takes no tool of such a name
 */
export async function toAnthropicDefinitions(
  session: Pick<ToolSession, 'definitions'>,
  { tools }: AnthropicDefinitionsOptions = {},
): Promise<AnthropicDefinition[]> {
  const all = await session.definitions();
  return all.filter(({ name }) => tools === undefined || tools.includes(name)).map(definitionOf);
}

function definitionOf({ name, description, parameters }: ToolDefinition): AnthropicDefinition {
  if (!NAME.test(name)) {
    throw new EthosError(
      'CONFIG_INVALID',
      `the API takes no tool of the name ${JSON.stringify(name)}: it wants letters, digits, "_" and "-", at most 128; leave the tool out with \`tools\``,
    );
  }
  return { type: 'custom', name, description, input_schema: inputSchemaOf(parameters) };
}
