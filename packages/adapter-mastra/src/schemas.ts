import type { StandardSchemaWithJSON } from '@mastra/core/schema';
import { ToolOutput } from './tool-output.js';

/**
 * Makes a schema for the model that accepts everything. The session validates the arguments, and
 * the model must read its message.
 */
export function openSchema(parameters: Record<string, unknown>): StandardSchemaWithJSON {
  return schemaOf({ type: 'object', ...parameters }, (value) => ({ value }));
}

/** The schema of a tool's output. Workflows of Mastra accept no tool without it. */
export const outputSchema: StandardSchemaWithJSON<ToolOutput> = schemaOf(
  {
    type: 'object',
    properties: { text: { type: 'string' }, images: { type: 'array' } },
    required: ['text', 'images'],
  },
  (value) =>
    value instanceof ToolOutput
      ? { value }
      : { issues: [{ message: 'not an output of a session' }] },
);

type Validate<T> = StandardSchemaWithJSON<T>['~standard']['validate'];

function schemaOf<T>(
  json: Record<string, unknown>,
  validate: Validate<T>,
): StandardSchemaWithJSON<T> {
  const toJson = () => structuredClone(json);
  const jsonSchema = { input: toJson, output: toJson };
  return { '~standard': { version: 1, vendor: 'ethosagent', validate, jsonSchema } };
}
