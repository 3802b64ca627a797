import { mayBeForeign } from '@ethosagent/core';
import { isObject } from '@ethosagent/policy';
import type { AnyTool, ToolDefinition, ToolResult } from '@ethosagent/types';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { annotationsOf } from './annotations.js';

type ObjectSchema = Tool['inputSchema'];

/** A tool of a session, as clients see it. */
export function listedTool(
  { name, description, parameters, outputSchema }: ToolDefinition,
  tool: AnyTool | undefined,
): Tool {
  return {
    name,
    description,
    inputSchema: objectSchema(parameters),
    ...(givesStructured(tool) &&
      outputSchema !== undefined && { outputSchema: withImageFacts(objectSchema(outputSchema)) }),
    annotations: annotationsOf(tool),
  };
}

const ANY_RESULT: ToolResult = { ok: false, code: 'execution_failed', error: '' };

/**
 * Whether clients get `structured` in the results of a tool. They don't get untrusted data: it
 * can't be marked, and many clients show it to their model instead of the text.
 */
export function givesStructured(tool: AnyTool | undefined): tool is AnyTool {
  const { type = 'object' } = tool?.outputSchema ?? {};
  return tool?.outputSchema !== undefined && type === 'object' && !mayBeForeign(tool, ANY_RESULT);
}

const IMAGE_FACTS = {
  type: 'array',
  description: 'Of each image its mediaType, sizeBytes and sha256. The images are in the content.',
};

/**
 * Clients check a structured result against its schema, and get it without the bytes of its images.
 * So the schema must allow that.
 */
function withImageFacts({ properties, ...rest }: ObjectSchema): ObjectSchema {
  const { images } = properties ?? {};
  if (images === undefined) return { ...rest, ...(properties && { properties }) };
  return { ...rest, properties: { ...properties, images: { anyOf: [images, IMAGE_FACTS] } } };
}

/**
 * Turns a schema into the form of the protocol: an object whose properties have objects as schemas.
 */
function objectSchema({ properties, required, ...rest }: Record<string, unknown>): ObjectSchema {
  return {
    ...rest,
    type: 'object',
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [name, schemaObject(schema)]),
      ),
    }),
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name === 'string'),
    }),
  };
}

/** In JSON Schema, `true` and `false` are schemas too. */
function schemaObject(schema: unknown): Record<string, unknown> {
  if (isObject(schema)) return schema;
  return schema === false ? { not: {} } : {};
}
