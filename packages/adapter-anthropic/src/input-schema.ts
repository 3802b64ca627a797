import type { Tool } from '@anthropic-ai/sdk/resources/messages';
import { isObject } from '@ethosagent/policy';

const COMBINATORS = ['anyOf', 'oneOf', 'allOf'];

/**
 * Returns a schema of arguments in the form of the API: of type `object`, without alternatives at
 * its root. If the schema has alternatives, the model gets the properties of all of them. The
 * session still checks calls against the original schema.
 */
export function inputSchemaOf(schema: Record<string, unknown>): Tool.InputSchema {
  if (!COMBINATORS.some((key) => Object.hasOwn(schema, key))) return { ...schema, type: 'object' };
  const rest = Object.entries(schema).filter(([key]) => !COMBINATORS.includes(key));
  return {
    ...Object.fromEntries(rest),
    type: 'object',
    properties: propertiesOf(schema),
    required: requiredOf(schema),
    // Properties of one alternative are not declared in another one.
    additionalProperties: true,
  };
}

/**
 * Returns the possible properties of the arguments. If alternatives have different schemas for a
 * property, any of these schemas is accepted.
 */
function propertiesOf(schema: Record<string, unknown>): Record<string, unknown> {
  const found = new Map<string, Map<string, unknown>>();
  for (const each of [...partsOf(schema, COMBINATORS).map(propertiesOf), schema.properties]) {
    if (!isObject(each)) continue;
    for (const [name, value] of Object.entries(each)) {
      const values = found.get(name) ?? new Map<string, unknown>();
      found.set(name, values.set(JSON.stringify(value), value));
    }
  }
  return Object.fromEntries(
    [...found].map(([name, values]) => {
      const [first, ...others] = [...values.values()];
      return [name, others.length === 0 ? first : { anyOf: [first, ...others] }];
    }),
  );
}

/** Returns the properties that are always required. */
function requiredOf(schema: Record<string, unknown>): string[] {
  const own = Array.isArray(schema.required) ? schema.required : [];
  const ofAll = partsOf(schema, ['allOf']).flatMap(requiredOf);
  const ofAny = ['anyOf', 'oneOf'].flatMap((key) => {
    const [first = [], ...others] = partsOf(schema, [key]).map(requiredOf);
    return first.filter((name) => others.every((each) => each.includes(name)));
  });
  return [...new Set([...own, ...ofAll, ...ofAny])].filter((name) => typeof name === 'string');
}

function partsOf(
  schema: Record<string, unknown>,
  keys: readonly string[],
): Record<string, unknown>[] {
  return keys.flatMap((key) => {
    const parts = schema[key];
    return Array.isArray(parts) ? parts.filter(isObject) : [];
  });
}
