import type { Tool } from '@anthropic-ai/sdk/resources/messages';
import { assertBatchValues, assertToolSession, type ToolSession } from '@ethosagent/core';
import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { EthosError, type ToolDefinition } from '@ethosagent/types';
import { inputSchemaOf } from './input-schema.js';

/** A tool in the form of a request to the API. */
export interface AnthropicDefinition extends Pick<Tool, 'name' | 'description' | 'input_schema'> {
  type: 'custom';
  description: string;
}

export interface AnthropicDefinitionsOptions {
  /** The names of the tools to offer, from those of the personality. All when absent. */
  tools?: readonly string[];
}

const OPTIONS: OptionNames<AnthropicDefinitionsOptions> = { tools: true };

// With any other name, the API refuses the whole request.
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * Returns the tools of a session for `tools` of `client.messages.create`. The list is a copy that
 * you may change.
 *
 * @param session the session of the tools
 * @param options `tools`: the names of the tools to offer; all when absent
 * @returns the definitions
 * @throws `CONFIG_INVALID` if the personality or an option is not valid, or if the API does not accept the name
 * of a tool
 */
export async function toAnthropicDefinitions(
  session: Pick<ToolSession, 'definitions'>,
  options: AnthropicDefinitionsOptions = {},
): Promise<AnthropicDefinition[]> {
  assertToolSession('toAnthropicDefinitions', session, ['definitions']);
  assertOptions('toAnthropicDefinitions', options, OPTIONS);
  assertBatchValues('toAnthropicDefinitions', options);
  const { tools } = options;
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
