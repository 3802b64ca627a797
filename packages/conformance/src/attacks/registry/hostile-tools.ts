import type { ToolResult } from '@ethosagent/types';
import { type Behaviour, ok, thrower, untyped } from './batch.js';

const HUGE = 10_000_000;
/** A computed key, so that the linter sees that this `then` is intended. */
const THEN = String('then');

const unspeakable = { toString: thrower(new Error('no')) };
const throwingProxy = new Proxy({}, everyTrap(thrower(new Error('trap'))));
const revoked = Proxy.revocable({}, {});
revoked.revoke();

function everyTrap(trap: () => never): ProxyHandler<object> {
  const names = ['get', 'has', 'set', 'getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor'];
  return Object.fromEntries(names.map((name) => [name, trap]));
}

/** Makes a promise with changed properties. */
function promiseWith(properties: PropertyDescriptorMap): Promise<unknown> {
  return Object.defineProperties(Promise.resolve(ok('honest')), properties);
}

class SubclassedPromise extends Promise<unknown> {}

class ThrowingPromise extends Promise<unknown> {
  static override get [Symbol.species](): PromiseConstructor {
    throw new Error('species');
  }
}

function structured(of: unknown): Behaviour {
  return () => ({ ok: true, value: 'v', structured: { of } });
}

function cyclic(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

export function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

/** An array-like object whose length is larger than memory. */
const endless = untyped({ length: 4_294_967_295 });
const sparse: unknown[] = [];
sparse.length = 4_294_967_295;

const THROWN: ReadonlyArray<[string, unknown]> = [
  ['an Error', new Error('broken')],
  ['a string', 'broken'],
  ['an empty string', ''],
  ['null', null],
  ['undefined', undefined],
  ['a number', 7],
  ['a bigint', 7n],
  ['a symbol', Symbol('s')],
  ['a function', thrower(1)],
  ['an object without a prototype', Object.create(null)],
  ['an object whose toString throws', unspeakable],
  ['a Proxy that throws', throwingProxy],
  ['a revoked Proxy', revoked.proxy],
  [
    'an error whose message throws',
    Object.defineProperty(new Error(), 'message', { get: thrower(1) }),
  ],
  ['an error whose message is an object', Object.assign(new Error(), { message: unspeakable })],
  ['an error of 10 MB', new Error('e'.repeat(HUGE))],
  ['an error with lone surrogates', new Error('a\ud800b')],
  ['an error that is its own cause', Object.assign(new Error('e'), cyclic())],
];

/** Behaviours that must fail. They must affect only their own call. */
export const FAILING: ReadonlyArray<[name: string, behaviour: Behaviour]> = [
  ...THROWN.flatMap(
    ([name, thrown]): Array<[string, Behaviour]> => [
      [`throws ${name}`, thrower(thrown)],
      [`rejects with ${name}`, async () => thrower(thrown)()],
    ],
  ),
  ...[undefined, null, 7, Number.NaN, '', 'done', true, 7n, Symbol('s')].map(
    (value): [string, Behaviour] => [`returns ${String(value) || 'an empty string'}`, () => value],
  ),
  ['returns an array', () => [ok('x')]],
  ['returns a function', () => () => ok('x')],
  ['returns {}', () => ({})],
  ['returns ok: 1', () => ({ ok: 1, value: 'x' })],
  ['returns ok: "true"', () => ({ ok: 'true', value: 'x' })],
  ['returns no value', () => ({ ok: true })],
  ['returns a value that is a number', () => ({ ok: true, value: 7 })],
  ['returns a value that is a String', () => ({ ok: true, value: Object('x') })],
  ['returns a value with a toString', () => ({ ok: true, value: { toString: () => 'x' } })],
  ['returns no error', () => ({ ok: false })],
  ['returns an error that is an object', () => ({ ok: false, error: unspeakable, code: 'x' })],
  ['returns the code __proto__', () => ({ ok: false, error: 'e', code: '__proto__' })],
  ['returns the code toString', () => ({ ok: false, error: 'e', code: 'toString' })],
  [
    'returns an error of 10 MB',
    () => ({ ok: false, error: 'e'.repeat(HUGE), code: 'input_invalid' }),
  ],
  ...['ok', 'value', 'structured', 'cost_usd'].map((key): [string, Behaviour] => [
    `returns a ${key} that throws`,
    () =>
      Object.defineProperty({ ok: true, value: 'v' }, key, { get: thrower(new Error('gotcha')) }),
  ]),
  ['returns a Proxy that throws', () => throwingProxy],
  ['returns a revoked Proxy', () => revoked.proxy],
  ['returns a generator', () => (function* () {})()],
  ['returns an async generator', () => (async function* () {})()],
  ['returns a WeakMap', () => new WeakMap()],
  ['returns a promise of undefined', async () => undefined],
  ['returns a thenable that never settles', () => untyped({ [THEN]: () => {} })],
  ['returns a thenable that throws', () => untyped({ [THEN]: thrower(new Error('t')) })],
  ['returns a then that throws', () => Object.defineProperty({}, 'then', { get: thrower(1) })],
  ['returns a promise whose then throws', () => promiseWith({ [THEN]: { value: thrower(1) } })],
  ['returns a promise whose then is a number', () => promiseWith({ [THEN]: { value: 7 } })],
  ['returns a promise whose then does nothing', () => promiseWith({ [THEN]: { value: () => {} } })],
  [
    'returns a promise whose constructor throws',
    () => promiseWith({ constructor: { get: thrower(new Error('c')) } }),
  ],
  [
    'returns a promise of a class that throws',
    () => new ThrowingPromise((resolve) => resolve(ok('v'))),
  ],
  ['never settles', () => new Promise(() => {})],
  ['returns structured that is cyclic', structured(cyclic())],
  ['returns structured with a BigInt', structured(1n)],
  ['returns structured with a symbol', structured(Symbol('s'))],
  ['returns structured with a function', structured(() => 1)],
  ['returns structured with a Map', structured(new Map())],
  ['returns structured with a promise', structured(Promise.resolve())],
  ['returns structured of 10,000 levels', structured(nested(10_000))],
  ['returns structured with an endless array', structured(sparse)],
  [
    'returns structured with 2 million values',
    () => ({ ok: true, value: 'v', structured: { of: Array.from({ length: 2_000_000 }) } }),
  ],
  [
    'returns structured with a toJSON that throws',
    structured(
      new (class {
        toJSON = thrower(new Error('j'));
      })(),
    ),
  ],
  [
    'returns structured whose toJSON gives itself',
    structured(
      new (class {
        toJSON() {
          return this;
        }
      })(),
    ),
  ],
  [
    'returns structured with a getter that throws',
    structured(
      Object.defineProperty({}, 'x', {
        enumerable: true,
        get: thrower(1),
      }),
    ),
  ],
  ['returns structured with a revoked Proxy', structured(revoked.proxy)],
];

/** Strange behaviours that must still succeed with this value. */
export const SUCCEEDING: ReadonlyArray<[name: string, behaviour: Behaviour, result: ToolResult]> = [
  [
    'returns a subclassed promise',
    () => new SubclassedPromise((resolve) => resolve(ok('v'))),
    ok('v'),
  ],
  [
    'returns a thenable that settles again and again',
    () =>
      untyped({
        [THEN]: (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => {
          resolve(ok('v'));
          resolve(ok('w'));
          reject(1);
          thrower(new Error('late'))();
        },
      }),
    ok('v'),
  ],
  ['returns a frozen result', () => Object.freeze(ok('v')), ok('v')],
  [
    'returns a result without a prototype',
    () => Object.assign(Object.create(null), ok('v')),
    ok('v'),
  ],
  [
    'returns an instance of a class',
    () =>
      new (class {
        ok = true;
        value = 'v';
      })(),
    ok('v'),
  ],
  [
    'returns a result with more in it',
    () => ({ ...ok('v'), [THEN]: 7, toJSON: thrower(1), x: 1n }),
    ok('v'),
  ],
  [
    'returns a value that is another each time it is read',
    () => {
      const values = ['v', 7, undefined];
      return Object.defineProperty({ ok: true }, 'value', { get: () => values.shift() });
    },
    ok('v'),
  ],
  ['returns a cost of NaN', () => ({ ...ok('v'), cost_usd: Number.NaN }), ok('v')],
  ['returns structured that is an array', () => ({ ...ok('v'), structured: [1] }), ok('v')],
  ['returns structured that is null', () => ({ ...ok('v'), structured: null }), ok('v')],
  [
    'returns structured with an own __proto__',
    () => ({ ...ok('v'), structured: JSON.parse('{"__proto__":{"admin":true},"a":1}') }),
    { ...ok('v'), structured: { a: 1 } },
  ],
  [
    'returns structured that is frozen',
    structured(Object.freeze({ a: [1] })),
    {
      ...ok('v'),
      structured: { of: { a: [1] } },
    },
  ],
  [
    'returns structured with a Date',
    structured(new Date(0)),
    {
      ...ok('v'),
      structured: { of: '1970-01-01T00:00:00.000Z' },
    },
  ],
  [
    'returns structured with an object that says it is long',
    structured(endless),
    {
      ...ok('v'),
      structured: { of: { length: 4_294_967_295 } },
    },
  ],
  ['returns lone surrogates', () => ok('a\ud800b\udc00'), ok('a\ufffdb\ufffd')],
  [
    'tampers with its context and its arguments',
    (args, ctx) => {
      Object.assign(ctx, { sessionId: 'forged', emit: thrower(1), resultBudgetChars: 1e9 });
      Object.assign(Object(args), { forged: true });
      Reflect.setPrototypeOf(ctx, null);
      return ok('v');
    },
    ok('v'),
  ],
  [
    'freezes its context and its arguments',
    (args, ctx) => {
      Object.freeze(ctx);
      Object.freeze(args);
      return ok('v');
    },
    ok('v'),
  ],
  [
    'emits nonsense',
    (_args, ctx) => {
      const nonsense = [undefined, null, 7, {}, { message: 7 }, throwingProxy, revoked.proxy];
      for (const event of nonsense) Reflect.apply(ctx.emit, undefined, [untyped(event)]);
      return ok('v');
    },
    ok('v'),
  ],
  [
    'makes up an abort',
    (_args, ctx) => {
      ctx.abortSignal.dispatchEvent(new Event('abort'));
      return ok('v');
    },
    ok('v'),
  ],
];
