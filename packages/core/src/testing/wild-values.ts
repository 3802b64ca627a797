import fc from 'fast-check';

const thrower = () => {
  throw new Error('trap');
};
const traps: ProxyHandler<object> = {
  get: thrower,
  has: thrower,
  ownKeys: thrower,
  getPrototypeOf: thrower,
  getOwnPropertyDescriptor: thrower,
};

/** Functions that create values which throw or misbehave when they are read. */
const bites: Array<() => unknown> = [
  () => new Proxy({}, traps),
  () => new Proxy([], traps),
  () =>
    new Proxy([1], {
      get: (target, key) => (key === 'length' ? Number.NaN : Reflect.get(target, key)),
    }),
  () =>
    new Proxy([1], { get: (target, key) => (key === 'length' ? -1 : Reflect.get(target, key)) }),
  () => ({
    get a() {
      return thrower();
    },
  }),
  () => ({
    get a() {
      throw { toString: thrower };
    },
  }),
  () => ({
    get ok() {
      return thrower();
    },
  }),
  () => ({ toJSON: thrower }),
  () => ({ toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower }),
  () => Object.create({ toJSON: thrower }),
  () => Object.create({ toJSON: () => 'json' }),
  () => Object.create(null),
  () => Object.create({ isPrototypeOf: 1, __proto__: null }),
  () => JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  () => {
    const self: { self?: unknown } = {};
    self.self = self;
    return self;
  },
  () => {
    let deep: unknown = 1;
    for (let level = 0; level < 2_000; level += 1) deep = [deep];
    return deep;
  },
  () => Object.assign(new Array(3), { 1: 'hole' }),
  () => new Date(Number.NaN),
  () => new Map([[1, 2]]),
  () => new Error('an error', { cause: 1 }),
  () => Object.assign(new Error(), { message: 1 }),
  () => 10n,
  () => Symbol('s'),
  () => () => 1,
  () => class {},
  () => Promise.resolve(1),
  () => new WeakMap(),
  () => Buffer.from('abc'),
  () => new Float64Array([Number.NaN]),
  () => new DataView(new ArrayBuffer(2)),
  () => new ArrayBuffer(2),
  () => new SharedArrayBuffer(2),
  () => /x/g,
  () => globalThis,
  () => '\ud800',
];

/**
 * Functions that create any value. Half of the values are hostile, also inside others. They are
 * functions because the generator must not read the values.
 */
export const wildValue: fc.Arbitrary<() => unknown> = fc.letrec<{ make: () => unknown }>((tie) => ({
  make: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...bites),
    fc
      .anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withSparseArray: true,
        withTypedArray: true,
        withBoxedValues: true,
      })
      .map((value) => () => value),
    fc.array(tie('make'), { maxLength: 3 }).map((makers) => () => makers.map((make) => make())),
    makersByKey(tie('make')),
  ),
})).make;

function makersByKey(make: fc.Arbitrary<() => unknown>): fc.Arbitrary<() => unknown> {
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', 'toJSON', 'length', 'ok', 'message'),
  );
  return fc
    .array(fc.tuple(key, make), { maxLength: 3 })
    .map((entries) => () => Object.fromEntries(entries.map(([key, make]) => [key, make()])));
}
