import { isObject } from '@ethosagent/policy';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Finds clear errors in the arguments of a tool: a missing or an unknown property, a value of
 * another type, or one that is not in an enumeration. The server checks the rest. It may accept "5"
 * as a number, which its schema can't say. A hostile schema may have a pattern that takes forever,
 * so the schema of a server is never run as a whole.
 */
export function argumentProblem(schema: Schema, args: unknown): string | undefined {
  if (!isObject(args)) return `expected an object, not ${kindOf(args)}`;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const problems: string[] = [];
  for (const name of required) {
    if (typeof name !== 'string' || Object.hasOwn(args, name)) continue;
    problems.push(`${name} is missing${describe(own(properties, name))}`);
  }
  for (const [name, value] of Object.entries(args)) {
    const property = own(properties, name);
    const closed = schema.additionalProperties === false && schema.patternProperties === undefined;
    if (property === undefined && closed && !Object.hasOwn(properties, name)) {
      const known = Object.keys(properties).slice(0, 30).join(', ');
      problems.push(`${name} is no argument; there are ${known === '' ? 'none' : known}`);
    } else if (isObject(property)) {
      const problem = valueProblem(property, value);
      if (problem !== undefined) problems.push(`${name} ${problem}`);
    }
  }
  return problems.length === 0 ? undefined : problems.slice(0, 10).join('; ');
}

function valueProblem(schema: Schema, value: unknown): string | undefined {
  const types = typesOf(schema);
  if (types !== undefined && !types.some((type) => mayBeOfType(type, value))) {
    return `is ${kindOf(value)}, expected ${types.join(' or ')}`;
  }
  const options = schema.enum;
  if (!Array.isArray(options) || typeof value === 'object') return undefined;
  // A value of another type may be read as one of these.
  if (options.some((option) => String(option) === String(value))) return undefined;
  const shown = options.slice(0, 20).map((option) => JSON.stringify(option));
  return `is none of ${shown.join(', ')}`;
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** Returns the types of a schema; `undefined` when it has none, or an unknown one. */
function typesOf({ type }: Schema): string[] | undefined {
  const types = Array.isArray(type) ? type : [type];
  return types.every((one) => TYPES.includes(one)) ? types : undefined;
}

/**
 * Whether a value has a type, or a server may convert it to that type: a text, a number or a
 * boolean.
 */
function mayBeOfType(type: string, value: unknown): boolean {
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'string':
      return isScalar;
    case 'boolean':
      return typeof value === 'boolean' || isOneOf(value, ['true', 'false', '0', '1']);
    default:
      return typeof value === 'number'
        ? type === 'number' || Number.isInteger(value)
        : typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  }
}

function isOneOf(value: unknown, texts: readonly string[]): boolean {
  return typeof value !== 'object' && texts.includes(String(value).toLowerCase());
}

function describe(property: unknown): string {
  if (!isObject(property)) return '';
  const types = typesOf(property);
  return types === undefined ? '' : ` (${types.join(' or ')})`;
}

function own(record: Schema, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return value === undefined ? 'missing' : `a value of type ${typeof value}`;
}
