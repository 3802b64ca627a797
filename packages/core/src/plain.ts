import { errorText, MAX_PLAIN_DEPTH } from '@ethosagent/policy';

/**
 * How many values arguments and structured results may hold. Shared references multiply when they are copied, and this limits
 * them.
 */
export const MAX_VALUES = 1_000_000;

/** A deep copy, or a problem: where the value is not plain data, and why. */
export type PlainCopy = { ok: true; value: unknown } | { ok: false; problem: string };

class NotPlain extends Error {}

/**
 * Copies plain data: objects, arrays, primitives. Typed arrays are copied as such. An object with a
 * `toJSON` method (a `Date`, a `URL`) is replaced by what that returns. `__proto__` keys are left
 * out. These are problems: cycles, other objects, functions, symbols and big integers, nesting
 * beyond `MAX_PLAIN_DEPTH`, more than `MAX_VALUES` values, and anything that throws when it is read.
 * `mapString` is applied to every string and key.
 */
export function copyPlain(value: unknown, mapString?: (text: string) => string): PlainCopy {
  try {
    return { ok: true, value: new Copier(mapString).copy(value, 0) };
  } catch (error) {
    if (error instanceof NotPlain) return { ok: false, problem: error.message };
    // A getter, a proxy trap or a `toJSON` threw.
    return { ok: false, problem: ` can not be read: ${errorText(error)}` };
  }
}

class Copier {
  readonly #mapString: ((text: string) => string) | undefined;
  #values = 0;

  constructor(mapString: ((text: string) => string) | undefined) {
    this.#mapString = mapString;
  }

  copy(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'function':
      case 'symbol':
      case 'bigint':
        throw new NotPlain(` is a ${typeof value}, which is not JSON`);
      case 'object':
        return value === null ? null : this.#copyObject(value, depth);
      default:
        return value;
    }
  }

  #copyObject(value: object, depth: number): unknown {
    if (depth > MAX_PLAIN_DEPTH) {
      throw new NotPlain(` is nested deeper than ${MAX_PLAIN_DEPTH} levels, or cyclic`);
    }
    if (Array.isArray(value)) {
      const array: unknown[] = [];
      for (let index = 0; index < value.length; index++) {
        array.push(this.#child(value[index], depth, index));
      }
      return array;
    }
    if (ArrayBuffer.isView(value)) return this.#view(value);
    if (!isPlainObject(value)) {
      if ('toJSON' in value && typeof value.toJSON === 'function') {
        return this.copy(value.toJSON(), depth + 1);
      }
      throw new NotPlain(' is an instance of a class, which is not JSON');
    }
    const object: Record<string, unknown> = {};
    // Unlike `Object.keys`, `for in` creates no list.
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      const name = this.#text(key);
      if (key === '__proto__' || name === '__proto__') continue;
      object[name] = this.#child(value[key], depth, key);
    }
    return object;
  }

  #child(value: unknown, depth: number, place: string | number): unknown {
    if (++this.#values > MAX_VALUES) throw new NotPlain(` holds more than ${MAX_VALUES} values`);
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'number') return this.#number(value);
    if (typeof value === 'boolean') return value;
    try {
      return this.copy(value, depth + 1);
    } catch (error) {
      // The outermost levels are enough to find the place; a cycle would name its step five hundred
      // times.
      if (!(error instanceof NotPlain) || depth > 3) throw error;
      const step = typeof place === 'number' ? `[${place}]` : `.${place}`;
      throw new NotPlain(step + error.message);
    }
  }

  // A secret may also stand in bytes, and a number may be a whole secret.
  #view(view: ArrayBufferView): unknown {
    if (this.#mapString === undefined) return copyView(view);
    const text = Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('latin1');
    const mapped = this.#mapString(text);
    return mapped === text ? copyView(view) : mapped;
  }

  #number(value: number): unknown {
    if (this.#mapString === undefined) return value;
    const text = String(value);
    // Shorter numbers would often match by chance.
    if (text.length < 4) return value;
    const mapped = this.#mapString(text);
    return mapped === text ? value : mapped;
  }

  #text(text: string): string {
    return this.#mapString === undefined ? text : this.#mapString(text);
  }
}

// Copies only what the view shows: a `Buffer` is a window on memory that other calls share.
function copyView(view: ArrayBufferView): unknown {
  if (view instanceof DataView) throw new NotPlain(' is a DataView, which is not JSON');
  return structuredClone(Reflect.apply(Uint8Array.prototype.slice, view, []));
}

function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // The `Object.prototype` of another realm, e.g. of a worker or a test runner's context.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** Freezes plain data at all levels. */
export function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}
