import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import util from 'node:util';
import { serialize } from 'node:v8';

/** What the engine and the file system do for a program, which its own blocks don't show. */
export interface NativeWork {
  /** Items of lists and keys of objects that built-in functions look at or copy. */
  items: number;
  /** The same of characters and bytes. */
  characters: number;
  /** Calls of the file system. */
  fileCalls: number;
  /** Bytes that files gave, and entries that folders gave. */
  fileBytes: number;
}

const work: NativeWork = { items: 0, characters: 0, fileCalls: 0, fileBytes: 0 };

/** What a call looked at: the object that it belongs to, its arguments, and what it gave. */
interface Called {
  self: unknown;
  args: readonly unknown[];
  given: unknown;
}

type Cost = (called: Called) => number;

let isCounting = false;

/** Calls what the built-in functions are, also where they are counted. */
const { apply } = Reflect;

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof Map || value instanceof Set) return value.size;
  return 'length' in value && typeof value.length === 'number' ? value.length : 0;
};

const whole: Cost = ({ self }) => lengthOf(self);
const given: Cost = ({ given }) => lengthOf(given);
const first: Cost = ({ args }) => lengthOf(args[0]);
const keys: Cost = ({ args }) => ownKeys(Object(args[0])).length;
const copied: Cost = ({ args }) => {
  try {
    return serialize(args[0]).byteLength;
  } catch {
    return 0;
  }
};
/** From where the search began up to the place that was found, or to the end. */
const upTo: Cost = ({ self, args, given }) => {
  const end = typeof given === 'number' && given >= 0 ? given + 1 : lengthOf(self);
  return Math.max(0, end - (Number(args[1]) || 0));
};
const downTo: Cost = ({ self, args, given }) => {
  const from = typeof args[1] === 'number' ? args[1] : lengthOf(self);
  return Math.max(0, from - (typeof given === 'number' ? given : 0));
};
const { ownKeys } = Reflect;
const { indexOf } = Array.prototype;

const ARRAY: Record<string, Cost> = {
  includes: ({ self, args }) => upTo({ self, args, given: apply(indexOf, self, args) }),
  indexOf: upTo,
  lastIndexOf: downTo,
  join: whole,
  reverse: whole,
  shift: whole,
  unshift: whole,
  splice: whole,
  sort: whole,
  slice: given,
  concat: given,
  flat: given,
  toReversed: given,
  toSorted: given,
  toSpliced: given,
  with: given,
};
const STRING: Record<string, Cost> = {
  includes: whole,
  indexOf: upTo,
  lastIndexOf: downTo,
  localeCompare: whole,
  normalize: whole,
  repeat: given,
  replace: whole,
  replaceAll: whole,
  split: whole,
  toLowerCase: whole,
  toUpperCase: whole,
  trim: whole,
};
const BUFFER: Record<string, Cost> = {
  compare: whole,
  equals: whole,
  includes: whole,
  indexOf: upTo,
  lastIndexOf: downTo,
  toString: given,
  write: first,
};

/** From where a pattern began to look, up to the end of what it found, or of the text. */
function searched(pattern: RegExp, from: number, { text, found }: Searched): number {
  // It looks at one place.
  if (pattern.sticky && found === null) return 1;
  const begin = pattern.global || pattern.sticky ? from : 0;
  const end = found === null ? text.length : found.index + found[0].length;
  return Math.max(1, end - begin);
}

interface Searched {
  text: string;
  found: RegExpExecArray | null;
}

interface Counted {
  kind: 'items' | 'characters';
  cost: Cost;
}

const items = (cost: Cost): Counted => ({ kind: 'items', cost });
const characters = (cost: Cost): Counted => ({ kind: 'characters', cost });

function replace(owner: object, name: string, { kind, cost }: Counted): void {
  const own: unknown = Reflect.get(owner, name);
  if (typeof own !== 'function') return;
  function counted(this: unknown, ...args: unknown[]): unknown {
    const given: unknown = apply(Object(own), this, args);
    if (isCounting) {
      isCounting = false;
      work[kind] += 1 + cost({ self: this, args, given });
      isCounting = true;
    }
    return given;
  }
  Object.defineProperty(owner, name, { value: counted, writable: true, configurable: true });
}

/** Counts what a spread, a destructuring, `new Set` or `new Map` takes of a list. */
function replaceIterator(owner: object, name: symbol | string): void {
  const own: unknown = Reflect.get(owner, name);
  function counted(this: unknown): unknown {
    const iterator: unknown = apply(Object(own), this, []);
    if (isCounting) work.items += 1 + lengthOf(this);
    return iterator;
  }
  Object.defineProperty(owner, name, { value: counted, writable: true, configurable: true });
}

/** Counts every call of a file system's functions, and what they give, at once or later. */
function replaceFileCalls(owner: object): void {
  for (const name of ownKeys(owner)) {
    const own: unknown = Object.getOwnPropertyDescriptor(owner, name)?.value;
    if (typeof own !== 'function' || typeof name === 'symbol' || /^([A-Z_]|constructor)/.test(name))
      continue;
    function counted(this: unknown, ...args: unknown[]): unknown {
      if (isCounting) work.fileCalls += 1;
      const told = args.at(-1);
      const rest = typeof told === 'function' ? [...args.slice(0, -1), listening(told)] : args;
      const returned: unknown = apply(Object(own), this, rest);
      if (isCounting && returned instanceof Promise) void returned.then(count, () => {});
      else count(returned);
      return returned;
    }
    // How it is made to return a promise stands on the function.
    for (const key of Object.getOwnPropertySymbols(own)) {
      Object.defineProperty(counted, key, { value: Reflect.get(own, key) });
    }
    Object.defineProperty(owner, name, { value: counted, writable: true, configurable: true });
  }
}

/** A callback that is told of an error and of what a call gave. */
function listening(told: object): (...results: unknown[]) => unknown {
  return function (this: unknown, ...results) {
    count(results[1]);
    return apply(Object(told), this, results);
  };
}

function count(given: unknown): void {
  if (!isCounting) return;
  const bytes: unknown =
    typeof given === 'object' && given !== null && 'bytesRead' in given ? given.bytesRead : given;
  work.fileBytes += typeof bytes === 'number' ? bytes : lengthOf(bytes);
}

/**
 * Has the built-in functions of this process count what they do. The modules of Node hold on to the
 * ones that were there before, so that only the program is counted.
 *
 * @returns reads the counts of what a function does
 */
export async function countNatives(): Promise<(run: () => unknown) => Promise<NativeWork>> {
  for (const [name, cost] of Object.entries(ARRAY)) replace(Array.prototype, name, items(cost));
  for (const [name, cost] of Object.entries(STRING))
    replace(String.prototype, name, characters(cost));
  for (const [name, cost] of Object.entries(BUFFER))
    replace(Buffer.prototype, name, characters(cost));
  replace(Buffer, 'from', characters(given));
  replace(Buffer, 'concat', characters(given));
  replace(Buffer, 'byteLength', characters(first));
  replace(Array, 'from', items(given));
  replace(JSON, 'stringify', characters(given));
  replace(JSON, 'parse', characters(first));
  replace(globalThis, 'structuredClone', characters(copied));
  replace(util, 'isDeepStrictEqual', characters(copied));
  for (const name of ['keys', 'values', 'entries', 'freeze', 'fromEntries'])
    replace(Object, name, items(keys));
  replace(
    Object,
    'assign',
    items(({ args }) => ownKeys(Object(args[1])).length),
  );
  replace(Reflect, 'ownKeys', items(keys));
  replace(Object.getPrototypeOf(createHash('sha256')), 'update', characters(first));
  const { exec } = RegExp.prototype;
  function counted(this: RegExp, text: string): RegExpExecArray | null {
    const from = this.lastIndex;
    const found: RegExpExecArray | null = apply(exec, this, [text]);
    if (isCounting) work.characters += searched(this, from, { text: String(text), found });
    return found;
  }
  Object.defineProperty(RegExp.prototype, 'exec', { value: counted, writable: true });
  replaceIterator(Array.prototype, Symbol.iterator);
  for (const owner of [Map.prototype, Set.prototype])
    for (const name of [Symbol.iterator, 'keys', 'values', 'entries']) replaceIterator(owner, name);
  const handle = await open(process.execPath);
  await handle.close();
  for (const owner of [fs, fs.promises, Object.getPrototypeOf(handle)]) replaceFileCalls(owner);
  syncBuiltinESMExports();
  return async (run) => {
    Object.assign(work, { items: 0, characters: 0, fileCalls: 0, fileBytes: 0 });
    isCounting = true;
    try {
      await run();
    } finally {
      isCounting = false;
    }
    return { ...work };
  };
}
