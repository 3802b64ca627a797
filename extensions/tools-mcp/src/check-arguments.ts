type Schema = Readonly<Record<string, unknown>>;

/**
 * What is plainly wrong with the arguments of a tool, or `undefined`: a missing property, one that
 * there is not, a value of another type or outside an enumeration. The server judges the rest; a
 * schema that it wrote is not run here as a whole, since its patterns may take forever.
 */
export function argumentProblem(schema: Schema, args: unknown): string | undefined {
  if (!isRecord(args)) return `expected an object, not ${kindOf(args)}`;
  const properties = isRecord(schema.properties) ? schema.properties : {};
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
    } else if (isRecord(property)) {
      const problem = valueProblem(property, value);
      if (problem !== undefined) problems.push(`${name} ${problem}`);
    }
  }
  return problems.length === 0 ? undefined : problems.slice(0, 10).join('; ');
}

function valueProblem(schema: Schema, value: unknown): string | undefined {
  const types = typesOf(schema);
  if (types !== undefined && !types.some((type) => isOfType(type, value))) {
    return `is ${kindOf(value)}, expected ${types.join(' or ')}`;
  }
  const options = schema.enum;
  if (!Array.isArray(options) || typeof value === 'object') return undefined;
  if (options.includes(value)) return undefined;
  const shown = options.slice(0, 20).map((option) => JSON.stringify(option));
  return `is none of ${shown.join(', ')}`;
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** The types of a schema; `undefined` where it says none, or one that is not known. */
function typesOf({ type }: Schema): string[] | undefined {
  const types = Array.isArray(type) ? type : [type];
  return types.every((one) => TYPES.includes(one)) ? types : undefined;
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function describe(property: unknown): string {
  if (!isRecord(property)) return '';
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
