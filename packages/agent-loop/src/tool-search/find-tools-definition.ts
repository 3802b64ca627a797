import type { ToolDefinition } from '@ethosagent/types';

export const FIND_TOOLS = 'find_tools';

/** The definition of the search for the model, used when not all tools are offered. */
export const FIND_TOOLS_DEFINITION: ToolDefinition = {
  name: FIND_TOOLS,
  description:
    'Finds more tools. Not all tools that you may use are listed: say what you want to do, and those that fit can be called from the next step on. Search before you say that you can not do something.',
  parameters: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description:
          'What a tool has to do, in a few words: the action, the thing, the service; or a name.',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
};
