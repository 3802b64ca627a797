import { canonicalJson } from './canonical-json.js';
import { isObject } from './shape.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The keywords that some providers refuse at the top level of a tool's parameters, and the keywords
 * that belong to them.
 */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else', '$ref'];
const MAX_DEPTH = 8;
const MAX_FORMS_TOLD = 10;

/** The properties that a schema allows, and those that it requires. */
interface ObjectForm {
  properties: ReadonlyMap<string, unknown>;
  required: ReadonlySet<string>;
  /** Whether no other property is allowed. */
  isClosed: boolean;
}

/**
 * A JSON Schema of an object in the form that every provider takes as parameters: `type: 'object'`,
 * and no `anyOf`, `oneOf`, `allOf`, `not`, `enum` or `$ref` at the top. The result only tells a
 * model what to write, and may say less than the original. Validate against the original.
 *
 * @param schema a JSON Schema of an object, parsed
 * @returns the same object where it has the form already
 */
export function parametersForModels(schema: Schema): Schema {
  const isPlain = schema.type === 'object' && REFUSED.every((key) => schema[key] === undefined);
  if (isPlain) return schema;
  const { properties, required, isClosed } = formOf(schema, schema, 0);
  const rest = Object.fromEntries(
    Object.entries(schema).filter(
      ([key]) => !REFUSED.includes(key) && key !== 'required' && key !== 'properties',
    ),
  );
  const description = described(schema);
  return {
    ...rest,
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
    ...(isClosed && { additionalProperties: false }),
  };
}

function formOf(schema: unknown, root: Schema, depth: number): ObjectForm {
  if (!isObject(schema) || depth > MAX_DEPTH) return emptyForm();
  const forms = [ownForm(schema)];
  const next = (branch: unknown) => formOf(branch, root, depth + 1);
  if (typeof schema.$ref === 'string') forms.push(next(pointedAt(schema.$ref, root)));
  if (Array.isArray(schema.allOf)) forms.push(...schema.allOf.map(next));
  for (const branches of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(branches)) forms.push(eitherOf(branches.filter(mayBeObject).map(next)));
  }
  return allOf(forms);
}

function ownForm({ properties, required, additionalProperties }: Schema): ObjectForm {
  const names: unknown[] = Array.isArray(required) ? required : [];
  return {
    properties: new Map(isObject(properties) ? Object.entries(properties) : []),
    required: new Set(names.filter((name) => typeof name === 'string')),
    isClosed: additionalProperties === false,
  };
}

function allOf(forms: readonly ObjectForm[]): ObjectForm {
  const found = together(forms.map(({ properties }) => properties));
  return {
    properties: new Map([...found].map(([name, all]) => [name, joined('allOf', all)])),
    required: new Set(forms.flatMap(({ required }) => [...required])),
    // If two closed forms are combined, only the properties that both name are left, which this
    // form can't express.
    isClosed: forms.filter(({ isClosed }) => isClosed).length === 1 && forms.every(isClosedOrEmpty),
  };
}

/** A property is described by the branches that mention it. */
function eitherOf(forms: readonly ObjectForm[]): ObjectForm {
  const [first, ...others] = forms;
  if (first === undefined) return emptyForm();
  const found = together(forms.map(({ properties }) => properties));
  return {
    properties: new Map([...found].map(([name, all]) => [name, joined('anyOf', all)])),
    required: new Set(
      [...first.required].filter((name) => others.every(({ required }) => required.has(name))),
    ),
    isClosed: forms.every(({ isClosed }) => isClosed),
  };
}

function isClosedOrEmpty({ isClosed, properties }: ObjectForm): boolean {
  return isClosed || properties.size === 0;
}

function emptyForm(): ObjectForm {
  return { properties: new Map(), required: new Set(), isClosed: false };
}

function together(maps: readonly ReadonlyMap<string, unknown>[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const [name, schema] of maps.flatMap((map) => [...map])) {
    found.set(name, [...(found.get(name) ?? []), schema]);
  }
  return found;
}

/** Combines several schemas of one property. */
function joined(how: 'allOf' | 'anyOf', schemas: readonly unknown[]): unknown {
  const different = [...new Map(schemas.map((one) => [canonicalJson(one), one])).values()];
  if (different.length === 1) return different[0];
  const constants = different.map((one) => (isObject(one) ? one.const : undefined));
  // Branches of a union often differ in a constant. An `enum` of these is understood by every
  // provider.
  if (how === 'anyOf' && constants.every((one): one is string => typeof one === 'string')) {
    return { type: 'string', enum: constants };
  }
  return { [how]: different };
}

function mayBeObject(branch: unknown): boolean {
  if (!isObject(branch) || branch.type === undefined) return true;
  return branch.type === 'object' || (Array.isArray(branch.type) && branch.type.includes('object'));
}

/** The part of the schema that a reference points to. */
function pointedAt(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#/')) return ref === '#' ? root : undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** Explains in words which properties go together, since the simplified schema can't express it. */
function described(schema: Schema): string | undefined {
  const own = typeof schema.description === 'string' ? schema.description : undefined;
  const branches = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (branches === undefined) return own;
  const forms = branches
    .filter(mayBeObject)
    .map((branch) => [...formOf(branch, schema, 1).required].join(', '))
    .filter((names) => names !== '');
  if (forms.length < 2) return own;
  const told = forms.slice(0, MAX_FORMS_TOLD).map((names) => `(${names})`);
  const text = `Give the properties of one of these: ${told.join(', ')}.`;
  return own === undefined ? text : `${own} ${text}`;
}
