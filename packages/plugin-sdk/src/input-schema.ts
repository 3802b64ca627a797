import { EthosError } from '@ethosagent/types';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

/** Whether a value is a Standard Schema (https://standardschema.dev) that can validate. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  if (!('~standard' in value)) return false;
  const standard = value['~standard'];
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  );
}

/**
 * Returns the JSON Schema of the input that a schema accepts, as the model sees it. The schema
 * library itself writes it, through Standard JSON Schema, so no schema library is a dependency
 * here.
 *
 * @throws `TOOL_INVALID` if the library can't write JSON Schema, or if the schema is not that of an
 * object
 */
export function jsonSchemaOf(toolName: string, input: StandardSchemaV1): Record<string, unknown> {
  const remedy = 'pass the JSON Schema that the model is to see as `schema`, beside `input`';
  const derived = derive(toolName, input, { what: 'input', remedy });
  // A union of objects has the type only in its branches.
  const schema = isOfObjects(derived) ? { type: 'object', ...derived } : derived;
  if (schema.type !== 'object') {
    throw new EthosError(
      'TOOL_INVALID',
      `${toolName}: model providers take only an object as the arguments of a tool; make the input schema one, or ${remedy}`,
    );
  }
  return schema;
}

function isOfObjects({ type, anyOf, oneOf, allOf }: Record<string, unknown>): boolean {
  const branches: unknown = anyOf ?? oneOf ?? allOf;
  if (type !== undefined || !Array.isArray(branches) || branches.length === 0) return false;
  return branches.every((branch: unknown) => {
    const schema: Record<string, unknown> = Object(branch);
    return schema.type === 'object' || isOfObjects(schema);
  });
}

/**
 * Returns the JSON Schema of a tool's settings, for the authors of personalities.
 *
 * @throws `TOOL_INVALID` for the same reasons as `jsonSchemaOf`
 */
export function settingsJsonSchemaOf(
  toolName: string,
  settings: StandardSchemaV1,
): Record<string, unknown> {
  const remedy = 'use a schema library that can, such as Zod 4';
  const schema = derive(toolName, settings, { what: 'settings', remedy });
  if (schema.type === 'object') return schema;
  throw new EthosError(
    'TOOL_INVALID',
    `${toolName}: settings are an object, a key for each of them; make the settings schema one`,
  );
}

/**
 * Writing a schema takes a millisecond. The tools of an extension share one schema of settings, and a
 * host makes the tools anew for each of its runtimes. This is text, so that every tool gets a JSON
 * Schema of its own: what one host changes in it, no other one sees.
 */
const written = new WeakMap<StandardSchemaV1, string>();

function derive(
  toolName: string,
  input: StandardSchemaV1,
  { what, remedy }: { what: 'input' | 'settings'; remedy: string },
): Record<string, unknown> {
  const known = written.get(input);
  if (known !== undefined) return JSON.parse(known);
  if (!describesItself(input)) {
    throw new EthosError(
      'TOOL_INVALID',
      `${toolName}: the ${what} schema (${input['~standard'].vendor}) has no Standard JSON Schema; ${remedy}`,
    );
  }
  let text: string;
  try {
    const derived = input['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    // Some model providers refuse `$schema`, and every provider counts its tokens.
    text = JSON.stringify({ ...derived, $schema: undefined });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EthosError(
      'TOOL_INVALID',
      `${toolName}: the ${what} schema can not be written as JSON Schema (${why}); use a type that JSON has, such as a text for a date, or ${remedy}`,
      { cause },
    );
  }
  written.set(input, text);
  return JSON.parse(text);
}

function describesItself(
  input: StandardSchemaV1,
): input is StandardSchemaV1 & StandardJSONSchemaV1 {
  const standard = input['~standard'];
  if (!('jsonSchema' in standard)) return false;
  const { jsonSchema } = standard;
  return (
    typeof jsonSchema === 'object' &&
    jsonSchema !== null &&
    'input' in jsonSchema &&
    typeof jsonSchema.input === 'function'
  );
}
