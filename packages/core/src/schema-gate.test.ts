import type { AnyTool } from '@ethosagent/types';
import { describe, expect, it, vi } from 'vitest';
import type { CheckSchema } from './schema-gate.js';
import { makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const schema = { type: 'object', required: ['city'] };
/** Accepts only `{ city: 'Rome' }`. */
const rome: CheckSchema = () => (args) =>
  Object(args).city === 'Rome' ? undefined : 'city: expected Rome';

function world(checkSchema: CheckSchema | undefined, tool: Partial<AnyTool> = {}) {
  const execute = vi.fn(async () => ok('ran'));
  const registry = new DefaultToolRegistry(undefined, undefined, {
    ...(checkSchema !== undefined && { checkSchema }),
  });
  registry.register(makeTool('weather', execute, { schema, ...tool }));
  const run = (args: unknown) => runOne(registry, 'weather', args);
  return { run, execute };
}

describe('checkSchema of a registry', () => {
  it.each([
    ['at once', rome],
    ['later', async (given: Parameters<CheckSchema>[0]) => rome(given)],
  ])('made %s: refuses arguments that do not fit, and the tool does not run', async (_, check) => {
    const { run, execute } = world(check);
    for (const args of [{ city: 'Oslo' }, {}, null, 'Rome']) {
      expect(await run(args)).toEqual({
        ok: false,
        code: 'input_invalid',
        error: 'city: expected Rome',
        cause: 'INPUT_INVALID',
      });
    }
    expect(execute).not.toHaveBeenCalled();
    expect(await run({ city: 'Rome' })).toMatchObject({ ok: true });
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it('is made once for a tool, of the schema that it was registered with', async () => {
    const check = vi.fn(rome);
    const { run } = world(check);
    await Promise.all([run({ city: 'Rome' }), run({ city: 'Rome' })]);
    expect(check).toHaveBeenCalledTimes(1);
    expect(check).toHaveBeenCalledWith(schema);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no type "x"');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no type "x"');
      },
    ],
  ])('that %s keeps the tool from being called, and says whose fault it is', async (_, check) => {
    const { run, execute } = world(check);
    for (let time = 0; time < 2; time++) {
      expect(await run({ city: 'Rome' })).toMatchObject({
        code: 'not_available',
        error: expect.stringMatching(/^the schema of weather is wrong.*no type "x"/),
      });
    }
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([
    ['a registry without it', undefined, {}],
    ['a tool that says validateSchema: false', rome, { validateSchema: false }],
  ])('is not asked by %s', async (_, check, tool) => {
    expect(await world(check, tool).run({ city: 'Oslo' })).toMatchObject({ ok: true });
  });

  it('is not asked for a tool that has an input', async () => {
    const input = {
      parse: (args: unknown) => ({ ok: true as const, args }),
      run: async () => ok('ran'),
    };
    expect(await world(rome, { input }).run({ city: 'Oslo' })).toMatchObject({ ok: true });
  });

  it('comes before the question for approval', async () => {
    const requiresApproval = vi.fn(() => true);
    const { run } = world(rome, { requiresApproval });
    expect(await run({ city: 'Oslo' })).toMatchObject({ code: 'input_invalid' });
    expect(requiresApproval).not.toHaveBeenCalled();
  });

  it('that is no function is refused', () => {
    const options = { checkSchema: untyped(true) };
    expect(() => new DefaultToolRegistry(undefined, undefined, options)).toThrow('CONFIG_INVALID');
  });
});

describe('outputSchema of a tool', () => {
  const outputSchema = { type: 'object', required: ['city'] };
  const gives = async (structured: Record<string, unknown> | undefined, check = rome) => {
    const registry = new DefaultToolRegistry(undefined, undefined, { checkSchema: check });
    const result = { ok: true as const, value: 'v', ...(structured && { structured }) };
    registry.register(
      makeTool('weather', async () => result, { outputSchema, validateSchema: false }),
    );
    expect(registry.toDefinitions()).toMatchObject([{ outputSchema }]);
    return runOne(registry, 'weather', {});
  };

  it.each([
    ['at once', rome],
    ['later', async (given: Parameters<CheckSchema>[0]) => rome(given)],
  ])('checked %s: lets through what fits, and makes a failure of the rest', async (_, check) => {
    expect(await gives({ city: 'Rome' }, check as CheckSchema)).toMatchObject({ ok: true });
    for (const structured of [{ city: 'Oslo' }, undefined]) {
      expect(await gives(structured, check as CheckSchema)).toMatchObject({
        ok: false,
        code: 'execution_failed',
        cause: 'TOOL_INVALID',
        error: expect.stringContaining('expected Rome'),
      });
    }
  });

  it('that is wrong is told', async () => {
    const broken: CheckSchema = () => {
      throw new Error('no type "x"');
    };
    expect(await gives({}, broken)).toMatchObject({ error: expect.stringContaining('no type') });
  });
});

describe('an unconfined tool', () => {
  it('needs approval, whatever the host says of others, unless it says otherwise itself', async () => {
    for (const [requiresApproval, ran] of [
      [undefined, false],
      [true, false],
      [false, true],
    ] as const) {
      const registry = new DefaultToolRegistry();
      registry.register(
        makeTool('foreign', async () => ok('ran'), {
          unconfined: true,
          ...(requiresApproval !== undefined && { requiresApproval }),
        }),
      );
      expect((await runOne(registry, 'foreign', {})).ok).toBe(ran);
    }
  });
});
