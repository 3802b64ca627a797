import { anyJson, countTries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../../fuzz.js';
import {
  batchContext,
  type CreateRegistry,
  callsOf,
  ok,
  thrower,
  toolOf,
  untyped,
} from './batch.js';
import { nested } from './hostile-tools.js';

const cyclic: unknown[] = [];
cyclic.push(cyclic);
const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** Hostile arguments. The tool must get plain data, or must not run. */
const ARGS: ReadonlyArray<[string, unknown]> = [
  ['a cycle', cyclic],
  ['10,000 levels', nested(10_000)],
  ['a BigInt', { n: 1n }],
  ['a function', { f: thrower(1) }],
  ['a symbol', { s: Symbol('s') }],
  ['a Map', { m: new Map() }],
  ['a promise', { p: Promise.resolve() }],
  ['a getter that throws', Object.defineProperty({}, 'a', { enumerable: true, get: thrower(1) })],
  ['a revoked Proxy', revoked.proxy],
  [
    'a toJSON that throws',
    new (class {
      toJSON = thrower(1);
    })(),
  ],
  ['an own __proto__', JSON.parse('{"__proto__":{"admin":true},"a":1}')],
  ['a deep __proto__', JSON.parse('[{"a":{"__proto__":{"admin":true}}}]')],
  ['constructor.prototype', JSON.parse('{"constructor":{"prototype":{"admin":true}}}')],
  ['undefined', undefined],
  ['null', null],
  ['NaN', Number.NaN],
  ['lone surrogates', { '\ud800': '\udc00' }],
];

/** Those that would fill the memory of a program that never makes them. */
const LARGE_ARGS: ReadonlyArray<[string, () => unknown]> = [
  ['2 million values', () => Array.from({ length: 2_000_000 })],
  ['a string of 10 MB', () => 'x'.repeat(10_000_000)],
];

const CALLED: ReadonlyArray<[string, unknown]> = [
  ['null', null],
  ['undefined', undefined],
  ['a number', 7],
  ['a revoked Proxy', revoked.proxy],
  ['an object without a name', { toolCallId: '1' }],
  ['an object whose name is one', { toolCallId: '1', name: {}, args: {} }],
  ...['toolCallId', 'name', 'args'].map((key): [string, unknown] => [
    `an object whose ${key} throws`,
    Object.defineProperty({ toolCallId: '1', name: 'echo', args: {} }, key, {
      get: thrower(new Error('gotcha')),
    }),
  ]),
];

const NAMES = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'then', 'ok'],
  ...['mcp__constructor__x', 'mcp____proto____x', 'mcp__toString__valueOf', 'mcp____', '\ud800'],
  ...['a'.repeat(10_000), 'Terminal', 'terminal ', 'termina\u200bl', '../x', '<|im_start|>'],
];

/** Attacks with hostile names, calls and arguments. */
export function hostileCallAttacks(create: CreateRegistry): void {
  const echoing = () => {
    const registry = create();
    registry.register(toolOf('echo', (args) => ok(JSON.stringify(args) ?? 'undefined')));
    return registry;
  };

  describe('hostile calls', () => {
    const made = ARGS.map(([what, args]) => [what, () => args] as const);
    it.for([...made, ...LARGE_ARGS])(
      'arguments with %s pollute nothing, and the others run',
      async ([, makeArgs], context) => {
        const honest = { toolCallId: '2', name: 'echo', args: { honest: true } };
        const calls = [{ toolCallId: '1', name: 'echo', args: makeArgs() }, honest];
        const results = await echoing().executeParallel(calls, batchContext());
        expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['1', '2']);
        expect(results[0]?.result.ok ? results[0].result.value : '').not.toContain('__proto__');
        expect(results[1]?.result).toEqual(ok('{"honest":true}'));
        expect(Reflect.get({}, 'admin')).toBeUndefined();
        countTries(context, 'batches', 1);
      },
    );

    it.for(CALLED)(
      'a call that is %s is answered, and the others run',
      async ([, call], context) => {
        const honest = { toolCallId: '2', name: 'echo', args: 1 };
        const results = await echoing().executeParallel([untyped(call), honest], batchContext());
        expect(results).toHaveLength(2);
        expect(results[0]?.result.ok === false || results[0]?.toolCallId === undefined).toBe(true);
        expect(results[1]).toEqual({ toolCallId: '2', name: 'echo', result: ok('1') });
        countTries(context, 'batches', 1);
      },
    );

    it.for<[string, unknown]>([
      ['undefined', undefined],
      ['null', null],
      ['an object', { length: 3 }],
      ['a string', 'abc'],
    ])('calls that are %s are none', async ([, calls]) => {
      expect(await echoing().executeParallel(untyped(calls), batchContext())).toEqual([]);
    });

    fuzz(
      'what reaches a tool is its own copy of what was issued',
      anyJson(),
      async (args) => {
        const issued = JSON.stringify(args);
        const registry = create();
        registry.register(
          toolOf('spoils', (mine) => {
            const value = ok(JSON.stringify(mine));
            for (const key of Object.keys(Object(mine))) Reflect.deleteProperty(Object(mine), key);
            return value;
          }),
        );
        const calls = ['1', '2'].map((toolCallId) => ({ toolCallId, name: 'spoils', args }));
        const results = await registry.executeParallel(calls, batchContext());
        if (issued.includes('__proto__')) return;
        expect(results.map(({ result }) => result)).toEqual([ok(issued), ok(issued)]);
        expect(JSON.stringify(args)).toBe(issued);
      },
      { promised: 'batches' },
    );

    it.for(NAMES)('a tool named %s is itself, and no other', async (name, context) => {
      const registry = echoing();
      const [before] = await registry.executeParallel(callsOf([name]), batchContext());
      expect(before?.result).toMatchObject({ ok: false, code: 'not_available' });
      expect(registry.get(name)).toBeUndefined();
      registry.register(toolOf(name, () => ok('mine')));
      const results = await registry.executeParallel(callsOf([name, 'echo']), batchContext());
      expect(results.map(({ result }) => result)).toEqual([ok('mine'), ok('{}')]);
      const filtered = await registry.executeParallel(
        callsOf([name, 'toString']),
        batchContext(),
        [],
      );
      expect(filtered[1]?.result.ok).toBe(false);
      expect(registry.unregister(name)).toBe(true);
      expect(registry.list().map((tool) => tool.name)).toEqual(['echo']);
      expect(Object.keys(Object.prototype)).toEqual([]);
      countTries(context, 'batches', 3);
    });

    it.for<[string, string | undefined, string | undefined]>([
      ['the host’s', undefined, 'plugin'],
      ['another plugin’s', 'plugin', 'other'],
      ['a plugin’s, as the host', 'plugin', undefined],
    ])('nobody takes a name that is %s', async ([, owner, thief]) => {
      const registry = create();
      const optionsOf = (pluginId: string | undefined) =>
        pluginId === undefined ? {} : { pluginId };
      registry.register(
        toolOf('terminal', () => ok('mine')),
        optionsOf(owner),
      );
      const steals = () =>
        registry.register(
          toolOf('terminal', () => ok('stolen')),
          optionsOf(thief),
        );
      expect(steals).toThrow(expect.objectContaining({ code: 'TOOL_NAME_TAKEN' }));
      const [result] = await registry.executeParallel(callsOf(['terminal']), batchContext());
      expect(result?.result).toEqual(ok('mine'));
      expect(registry.unregisterPlugin('other')).toBe(0);
    });
  });
}
