import type { SchemaCheck } from '@ethosagent/core';
import { describeIssues } from '@ethosagent/plugin-sdk';
import type { ErrorObject, ValidateFunction } from 'ajv';

type Schema = Readonly<Record<string, unknown>>;

/** The options of a check. */
export interface CheckSchemaOptions {
  /** The most milliseconds of one check. 1,000 when absent. */
  timeoutMs?: number;
}

/**
 * Makes a check from a JSON Schema, with Ajv: 2020-12, or draft-07 if `$schema` says so, with
 * formats. It loads nothing from elsewhere and changes no argument. Ajv itself is loaded for the
 * first schema.
 *
 * @throws what Ajv finds wrong with the schema
 */
export async function checkSchema(
  schema: Schema,
  { timeoutMs = 1_000 }: CheckSchemaOptions = {},
): Promise<SchemaCheck> {
  const { compile } = await import('./ajv.js');
  const validate = compile(schema);
  const run = mayTakeLong(schema) ? await bounded(validate, timeoutMs) : validate;
  return (args) => {
    try {
      if (run(args) === true) return undefined;
    } catch (error) {
      return `the arguments could not be checked: ${error instanceof Error ? error.message : String(error)}; give shorter ones`;
    }
    return describeIssues(issuesOf(validate), args);
  };
}

/** The check with an end to its time. What it needs, a context of V8, is loaded for the first one. */
async function bounded(validate: ValidateFunction, timeoutMs: number) {
  const { runBounded } = await import('./run-bounded.js');
  return (args: unknown) => runBounded(() => validate(args), timeoutMs);
}

// Keywords that may take more than linear time: patterns may backtrack, items may be compared with
// one another, and alternatives may be tried again at each level.
const SLOW = [
  'pattern',
  'patternProperties',
  'uniqueItems',
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'contains',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
];

function mayTakeLong(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([key, value]) => SLOW.includes(key) || mayTakeLong(value));
}

function issuesOf({ errors }: ValidateFunction) {
  return (errors ?? []).map((error) => ({ message: messageOf(error), path: pathOf(error) }));
}

function messageOf({ message, params }: ErrorObject): string {
  const text = message ?? 'is not as the schema says';
  const { additionalProperty, unevaluatedProperty, allowedValues } = params;
  const name = additionalProperty ?? unevaluatedProperty;
  if (name !== undefined) return `${text}: ${JSON.stringify(name)}`;
  return Array.isArray(allowedValues) ? `${text}: ${JSON.stringify(allowedValues)}` : text;
}

/** The keys of a JSON pointer. Indexes become numbers. */
function pathOf({ instancePath }: ErrorObject): PropertyKey[] {
  const keys = instancePath.split('/').slice(1);
  return keys.map((key) =>
    /^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~'),
  );
}
