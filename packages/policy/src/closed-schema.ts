import { type ClosedPattern, compileClosedPattern } from './closed-pattern.js';
import { isObject } from './shape.js';

/** A value that a closed schema can have. */
export type ClosedValue =
  | string
  | number
  | boolean
  | null
  | ClosedValue[]
  | { [key: string]: ClosedValue };

/** A schema whose values hold no free text, and few bits. */
export interface ClosedSchema {
  /** The most bits that a value holds: so much can be said by filling it in. */
  readonly bits: number;
  /**
   * Makes a new value of the schema from the parts that fit. Keys, constants and choices come from
   * the schema. What the schema does not name is left out.
   *
   * @returns `undefined` for a value that does not fit, without a reason
   */
  read(value: unknown): { value: ClosedValue } | undefined;
}

export type ClosedSchemaResult =
  | { ok: true; schema: ClosedSchema }
  /** Where the schema is not closed, and what to write instead. */
  | { ok: false; problem: string };

/** The most bits that all values together may carry. */
const MAX_CLOSED_BITS = 4_096;
const MAX_DEPTH = 6;
const MAX_NODES = 200;
const MAX_ITEMS = 100;
const MAX_CHOICES = 256;
const MAX_IDENTIFIER_CHARS = 64;
const MAX_NAME_CHARS = 64;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME =
  /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Keywords that do not affect which values are valid. */
const NOTES = ['title', 'description', '$schema', '$comment', 'examples', 'default'];
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'maxItems', 'minItems'],
  string: ['format', 'pattern', 'maxLength', 'minLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  null: [],
};

class NotClosed extends Error {}

/**
 * Compiles a JSON Schema that lets no free text through: objects of named properties, arrays with
 * `maxItems`, `enum`, `const`, numbers, booleans, `null`, strings with the `format` `date` or
 * `date-time`, and identifiers: strings with a `pattern` of `[A-Za-z0-9._-]` of at most 64
 * characters, as `compileClosedPattern` takes it. A schema with an unknown keyword is refused.
 *
 * @param schema a JSON Schema, parsed
 * @returns the compiled schema, or the problem and its place in the schema. Never throws
 */
export function compileClosedSchema(schema: unknown): ClosedSchemaResult {
  try {
    const compiled = new Compiler().compile(schema, 'the schema', 0);
    if (compiled.bits <= MAX_CLOSED_BITS) return { ok: true, schema: compiled };
    return {
      ok: false,
      problem: `a value of the schema could hold ${Math.ceil(compiled.bits)} bits, and ${MAX_CLOSED_BITS} may cross; ask for fewer or shorter fields, or for fewer items`,
    };
  } catch (error) {
    if (error instanceof NotClosed) return { ok: false, problem: error.message };
    // A getter or a proxy trap threw.
    return { ok: false, problem: 'the schema can not be read' };
  }
}

class Compiler {
  #nodes = 0;

  compile(schema: unknown, at: string, depth: number): ClosedSchema {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw new NotClosed(`the schema has more than ${MAX_NODES} parts`);
    if (depth > MAX_DEPTH) throw new NotClosed(`${at} is nested more than ${MAX_DEPTH} deep`);
    if (!isObject(schema)) throw new NotClosed(`${at} is no JSON Schema`);
    const choices = choicesOf(schema, at);
    if (choices !== undefined) return choices;
    const { type } = schema;
    const known = typeof type === 'string' && Object.hasOwn(KEYWORDS, type) ? KEYWORDS[type] : [];
    assertKeywords(schema, ['type', ...(known ?? [])], at);
    switch (type) {
      case 'object':
        return this.#object(schema, at, depth);
      case 'array':
        return this.#array(schema, at, depth);
      case 'string':
        return text(schema, at);
      case 'number':
      case 'integer':
        return number(schema, at);
      case 'boolean':
        return only(1, (value): value is boolean => typeof value === 'boolean');
      case 'null':
        return only(0, (value): value is null => value === null);
      default:
        throw new NotClosed(
          `${at} has neither enum nor const nor a single type; say which values it may have`,
        );
    }
  }

  #object(schema: Record<string, unknown>, at: string, depth: number): ClosedSchema {
    const { properties, required = [], additionalProperties = false } = schema;
    if (!isObject(properties)) throw new NotClosed(`${at} names no properties`);
    if (additionalProperties !== false) {
      throw new NotClosed(`${at} takes additionalProperties; name each property`);
    }
    const names = Object.keys(properties);
    if (!Array.isArray(required) || !required.every((name) => names.includes(name))) {
      throw new NotClosed(`${at} requires what it does not name`);
    }
    const needed = new Set<unknown>(required);
    const fields = names.map((name) => {
      if (name === '__proto__' || name.length > MAX_NAME_CHARS) {
        throw new NotClosed(`${at} has a property whose name can not be used`);
      }
      const schema = this.compile(properties[name], `${at}.${name}`, depth + 1);
      return { name, schema, isNeeded: needed.has(name) };
    });
    return {
      bits: sum(fields.map(({ schema, isNeeded }) => schema.bits + (isNeeded ? 0 : 1))),
      read: (value) => {
        if (!isObject(value)) return undefined;
        const made: [string, ClosedValue][] = [];
        for (const { name, schema, isNeeded } of fields) {
          const given = Object.hasOwn(value, name) ? value[name] : undefined;
          if (given === undefined) {
            if (isNeeded) return undefined;
            continue;
          }
          const read = schema.read(given);
          if (read === undefined) return undefined;
          made.push([name, read.value]);
        }
        return { value: Object.fromEntries(made) };
      },
    };
  }

  #array(schema: Record<string, unknown>, at: string, depth: number): ClosedSchema {
    const { items, maxItems, minItems = 0 } = schema;
    if (!isWhole(maxItems) || maxItems > MAX_ITEMS) {
      throw new NotClosed(`${at} needs maxItems, at most ${MAX_ITEMS}`);
    }
    if (!isWhole(minItems)) throw new NotClosed(`${at} has a minItems that is no whole number`);
    const item = this.compile(items, `${at}[]`, depth + 1);
    return {
      bits: maxItems * item.bits + Math.log2(maxItems + 1),
      read: (value) => {
        if (!Array.isArray(value) || value.length > maxItems || value.length < minItems) {
          return undefined;
        }
        const made: ClosedValue[] = [];
        for (const each of value) {
          const read = item.read(each);
          if (read === undefined) return undefined;
          made.push(read.value);
        }
        return { value: made };
      },
    };
  }
}

function choicesOf(schema: Record<string, unknown>, at: string): ClosedSchema | undefined {
  if (!Object.hasOwn(schema, 'enum') && !Object.hasOwn(schema, 'const')) return undefined;
  assertKeywords(schema, ['type', 'enum', 'const'], at);
  const choices: unknown = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
  if (!Array.isArray(choices) || choices.length === 0 || choices.length > MAX_CHOICES) {
    throw new NotClosed(`${at}: enum is not a list of 1 to ${MAX_CHOICES} values`);
  }
  // A copy, so that later changes of the schema have no effect.
  const plain = Array.from(choices, (choice: unknown): ClosedValue => {
    if (choice === null || typeof choice === 'boolean' || typeof choice === 'string') return choice;
    if (typeof choice === 'number' && Number.isFinite(choice)) return choice;
    throw new NotClosed(`${at}: enum holds what is neither text, a number, a boolean nor null`);
  });
  return {
    bits: Math.log2(plain.length),
    read: (value) => {
      const choice = plain.find((each) => each === value);
      return choice === undefined ? undefined : { value: choice };
    },
  };
}

function text(schema: Record<string, unknown>, at: string): ClosedSchema {
  const { format, pattern, maxLength = MAX_IDENTIFIER_CHARS, minLength = 0 } = schema;
  if (!isWhole(maxLength) || maxLength > MAX_IDENTIFIER_CHARS || !isWhole(minLength)) {
    throw new NotClosed(`${at}: maxLength is at most ${MAX_IDENTIFIER_CHARS} characters`);
  }
  if (format === 'date' && pattern === undefined) return date();
  if (format === 'date-time' && pattern === undefined) return dateTime();
  const compiled: ClosedPattern | undefined =
    typeof pattern === 'string' && format === undefined
      ? compileClosedPattern(pattern, maxLength)
      : undefined;
  if (compiled === undefined) {
    throw new NotClosed(
      `${at} is free text, which does not cross; use an enum, the format date or date-time, or an identifier: a pattern such as ^[A-Z]{2}-[0-9]{1,8}$ of [A-Za-z0-9._-], without groups`,
    );
  }
  return {
    bits: compiled.bits,
    read: (value) =>
      typeof value === 'string' && value.length >= minLength && compiled.matches(value)
        ? { value }
        : undefined,
  };
}

function date(): ClosedSchema {
  return {
    bits: 22,
    read: (value) => (typeof value === 'string' && isDay(value) ? { value } : undefined),
  };
}

function isDay(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

/**
 * The result is in UTC, to the millisecond: otherwise the spelling of an offset could carry
 * information.
 */
function dateTime(): ClosedSchema {
  return {
    bits: 49,
    read: (value) => {
      if (typeof value !== 'string' || !DATE_TIME.test(value)) return undefined;
      if (!isDay(value.slice(0, 10))) return undefined;
      const time = Date.parse(value);
      if (Number.isNaN(time)) return undefined;
      const made = new Date(time).toISOString();
      return made.length === 24 ? { value: made } : undefined;
    },
  };
}

function number({ type, minimum, maximum }: Record<string, unknown>, at: string): ClosedSchema {
  for (const bound of [minimum, maximum]) {
    if (bound !== undefined && !(typeof bound === 'number' && Number.isFinite(bound))) {
      throw new NotClosed(`${at}: minimum and maximum are numbers`);
    }
  }
  const low = Number(minimum ?? Number.NEGATIVE_INFINITY);
  const high = Number(maximum ?? Number.POSITIVE_INFINITY);
  const isInteger = type === 'integer';
  const span = isInteger ? high - low + 1 : Number.POSITIVE_INFINITY;
  return {
    bits: Math.min(isInteger ? 54 : 64, Math.log2(Math.max(1, span))),
    read: (value) => {
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      if (value < low || value > high || (isInteger && !Number.isSafeInteger(value))) {
        return undefined;
      }
      return { value: value === 0 ? 0 : value };
    },
  };
}

function only(bits: number, fits: (value: unknown) => value is boolean | null): ClosedSchema {
  return { bits, read: (value) => (fits(value) ? { value } : undefined) };
}

function assertKeywords(
  schema: Record<string, unknown>,
  known: readonly string[],
  at: string,
): void {
  const unknown = Object.keys(schema).find((key) => !known.includes(key) && !NOTES.includes(key));
  if (unknown === undefined) return;
  throw new NotClosed(`${at} has the keyword ${JSON.stringify(unknown)}, which is not known here`);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
