import { anyJson } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

function cyclic(): unknown {
  const value: unknown[] = [];
  value.push(value);
  return value;
}

const invalid = (error: unknown) => ({
  ok: false,
  code: 'input_invalid',
  error,
  cause: 'INPUT_INVALID',
});

function echoRegistry(): DefaultToolRegistry {
  const registry = new DefaultToolRegistry();
  registry.register(makeTool('echo', (args) => ok(JSON.stringify(args) ?? 'undefined')));
  return registry;
}

describe('DefaultToolRegistry arguments', () => {
  it.each<[string, unknown, unknown]>([
    ['a cycle', cyclic(), invalid(expect.stringContaining('or cyclic'))],
    [
      '10,000 levels',
      nested(10_000),
      invalid(expect.stringContaining('nested deeper than 500 levels')),
    ],
    ['a BigInt', { n: 1n }, invalid('args.n is a bigint, which is not JSON')],
    ['a function', { f: () => 1 }, invalid('args.f is a function, which is not JSON')],
    ['a symbol', { s: Symbol('s') }, invalid('args.s is a symbol, which is not JSON')],
    ['a Map', { at: new Map() }, invalid('args.at is an instance of a class, which is not JSON')],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('gotcha');
        },
      },
      invalid('args can not be read: gotcha'),
    ],
    ['an own __proto__ key', JSON.parse('{"__proto__":{"admin":true},"a":1}'), ok('{"a":1}')],
    [
      'constructor.prototype',
      JSON.parse('{"constructor":{"prototype":{"admin":true}}}'),
      ok('{"constructor":{"prototype":{"admin":true}}}'),
    ],
    ['null', null, ok('null')],
    ['a string', 'text', ok('"text"')],
    ['400 levels', nested(400), ok(JSON.stringify(nested(400)))],
  ])(
    '%s: the call is answered, nothing is polluted, and the others run',
    async (_name, args, expected) => {
      const results = await echoRegistry().executeParallel(
        [
          { toolCallId: '1', name: 'echo', args },
          { toolCallId: '2', name: 'echo', args: { honest: true } },
        ],
        batchContext(),
      );
      expect(results.map(({ result }) => result)).toEqual([expected, ok('{"honest":true}')]);
      expect(Reflect.get({}, 'admin')).toBeUndefined();
    },
  );

  it('what reaches the tool is what was issued, whatever JSON that is', async () => {
    const registry = new DefaultToolRegistry();
    let seen: unknown;
    registry.register(
      makeTool('see', (args) => {
        seen = args;
        return ok('');
      }),
    );
    await fc.assert(
      fc.asyncProperty(anyJson(), async (args) => {
        await runOne(registry, 'see', args);
        if (!JSON.stringify(args)?.includes('__proto__')) expect(seen).toEqual(args);
      }),
    );
  });

  it('two calls that were given one object do not share it', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('push', (args) => {
        const { list }: { list: number[] } = Object(args);
        return ok(String(list.push(1)));
      }),
    );
    const args = { list: [] };
    const results = await registry.executeParallel(
      ['1', '2', '3'].map((toolCallId) => ({ toolCallId, name: 'push', args })),
      batchContext(),
    );
    expect(results.map(({ result }) => result)).toEqual([ok('1'), ok('1'), ok('1')]);
    expect(args).toEqual({ list: [] });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['an object without a name', { toolCallId: 'x' }],
    ['a name that is an object', { toolCallId: 'x', name: {}, args: {} }],
  ])('a call that is %s is answered, and the others run', async (_name, call) => {
    const registry = echoRegistry();
    const calls = [untyped(call), { toolCallId: '2', name: 'echo', args: 1 }];
    const results = await registry.executeParallel(calls, batchContext());
    expect(results[0]?.result.ok).toBe(false);
    expect(results[1]?.result).toEqual(ok('1'));
  });

  it.each<[string, () => unknown, unknown]>([
    [
      'throws',
      () => {
        throw new Error('schema bug');
      },
      { ok: false, code: 'execution_failed', error: 'schema bug' },
    ],
    [
      'rejects',
      () => Promise.reject(new Error('schema bug')),
      { ok: false, code: 'execution_failed', error: 'schema bug' },
    ],
    [
      'returns nonsense',
      () => undefined,
      { ok: false, code: 'execution_failed', error: expect.any(String) },
    ],
    [
      'never settles',
      () => new Promise(() => {}),
      {
        ok: false,
        code: 'execution_failed',
        error:
          't did not run: the checks before it took longer than 30 ms; try again once, then tell the user',
        cause: 'CALL_TIMED_OUT',
      },
    ],
    ['says no', () => ({ ok: false, error: 'city is missing' }), invalid('city is missing')],
  ])('an input schema that %s', async (_name, parse, expected) => {
    let ran = false;
    const registry = new DefaultToolRegistry();
    const run = async () => {
      ran = true;
      return ok('ran');
    };
    registry.register(
      makeTool('t', undefined, {
        timeoutMs: 30,
        input: { parse: untyped(parse), run },
      }),
    );
    expect(await runOne(registry, 't')).toEqual(expected);
    expect(ran).toBe(false);
  });
});
