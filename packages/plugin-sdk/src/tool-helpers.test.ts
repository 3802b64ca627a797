import type { ToolCapabilities, ToolContext } from '@ethosagent/types';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, err, ok } from './tool-helpers.js';

const base = { name: 'probe', description: 'A probe.' };

function contextWith(accessors: Partial<ToolContext> = {}): ToolContext {
  return {
    sessionId: 'session-1',
    sessionKey: 'test:1',
    platform: 'test',
    workingDir: '/',
    currentTurn: 1,
    messageCount: 0,
    abortSignal: new AbortController().signal,
    emit: () => {},
    resultBudgetChars: 80_000,
    ...accessors,
  };
}

/** A schema of another vendor. */
function schemaOf(
  validate: StandardSchemaV1.Props['validate'],
  jsonSchema?: unknown,
): StandardSchemaV1 {
  const props: StandardSchemaV1.Props = { version: 1, vendor: 'other', validate };
  return { '~standard': Object.assign(props, jsonSchema === undefined ? {} : { jsonSchema }) };
}

describe('ok', () => {
  it('ok holds the value alone', () => {
    expect(ok('fine')).toStrictEqual({ ok: true, value: 'fine' });
  });

  it('ok adds structured and cost_usd', () => {
    expect(ok('fine', { structured: { n: 1 }, cost_usd: 0.02 })).toStrictEqual({
      ok: true,
      value: 'fine',
      structured: { n: 1 },
      cost_usd: 0.02,
    });
  });
});

describe('err', () => {
  it('err is execution_failed by default', () => {
    expect(err('broke')).toStrictEqual({ ok: false, error: 'broke', code: 'execution_failed' });
  });

  it('err takes a code', () => {
    expect(err('changed', 'STALE_WRITE')).toStrictEqual({
      ok: false,
      error: 'changed',
      code: 'STALE_WRITE',
    });
  });
});

describe('defineTool with schema', () => {
  const schema = {
    type: 'object',
    properties: { topic: { type: 'string' } },
    required: ['topic'],
  };

  it('defineTool keeps every field of the definition and sets no input', () => {
    const definition = {
      ...base,
      schema,
      toolset: 'web',
      maxResultChars: 100,
      capabilities: {},
      alwaysInclude: true,
      outputIsUntrusted: true,
      timeoutMs: 5,
      supportsDryRun: true,
      requiresApproval: true,
      isAvailable: () => true,
      execute: async () => ok(''),
    };
    expect(defineTool(definition)).toStrictEqual(definition);
  });

  it('defineTool passes arguments on unchecked', async () => {
    const tool = defineTool<{ topic: string }>({
      ...base,
      schema,
      capabilities: {},
      execute: async (args) => ok(JSON.stringify(args)),
    });
    const wrong: unknown = { topic: 7 };
    expect(await tool.execute(wrong as { topic: string }, contextWith())).toEqual(
      ok('{"topic":7}'),
    );
  });
});

describe('defineTool with input', () => {
  const input = z.object({
    city: z.string().describe('The city'),
    days: z.array(z.number().max(9)).default([1]),
  });
  const seen: unknown[] = [];
  const tool = defineTool({
    ...base,
    input,
    capabilities: {},
    async execute(args) {
      seen.push(args);
      return ok(`${args.city} ${args.days.length}`);
    },
  });

  async function call(args: unknown) {
    return tool.execute(args as z.infer<typeof input>, contextWith());
  }

  it('defineTool derives the JSON Schema that the model sees, defaults being optional', () => {
    expect(tool.schema).toStrictEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'The city' },
        days: { type: 'array', items: { type: 'number', maximum: 9 }, default: [1] },
      },
      required: ['city'],
    });
  });

  it('defineTool prefers a schema given beside input', () => {
    const schema = { type: 'object' };
    const { schema: told } = defineTool({
      ...base,
      input,
      schema,
      capabilities: {},
      execute: async () => ok(''),
    });
    expect(told).toBe(schema);
  });

  it('defineTool.execute parses, then runs with the output of the schema', async () => {
    expect(await call({ city: 'Bern', extra: 1 })).toEqual(ok('Bern 1'));
    expect(seen.at(-1)).toStrictEqual({ city: 'Bern', days: [1] });
  });

  it('defineTool.execute answers input_invalid with every issue and its path, and does not run', async () => {
    const runs = seen.length;
    expect(await call({ days: [1, 'two', 30] })).toStrictEqual(
      err(
        'city: expected string, received undefined; days[1]: expected number, received string; days[2]: Too big: expected number to be <=9',
        'input_invalid',
      ),
    );
    expect(seen).toHaveLength(runs);
  });

  it('defineTool writes a JSON Schema once, and gives every tool its own', () => {
    const input = z.object({ city: z.string() });
    const write = vi.spyOn(input['~standard'].jsonSchema, 'input');
    const define = () =>
      defineTool({ ...base, input, capabilities: {}, execute: async () => ok('') });
    const [first, second] = [define(), define()];
    expect(write).toHaveBeenCalledOnce();
    const { schema } = second;
    Object.assign(Object(first.schema.properties), { city: { type: 'number' } });
    expect(schema).toMatchObject({ properties: { city: { type: 'string' } } });
    expect(define().schema).toEqual(schema);
  });

  it.each([undefined, null, 'text', 7, []])(
    'defineTool.execute refuses %j as arguments',
    async (args) => {
      expect(await call(args)).toMatchObject({ ok: false, code: 'input_invalid' });
    },
  );

  it('defineTool sets input to the two halves of execute, so that parsing happens once', async () => {
    let parsed = 0;
    const counting = defineTool({
      ...base,
      input: z.object({
        n: z.string().transform((text) => {
          parsed += 1;
          return Number(text);
        }),
      }),
      capabilities: {},
      execute: async ({ n }) => ok(String(n + 1)),
    });
    const halves = counting.input;
    if (halves === undefined) throw new Error('input is set');
    const result = await halves.parse({ n: '41' });
    expect(result).toStrictEqual({ ok: true, args: { n: 41 } });
    if (!result.ok) throw new Error('it parsed');
    expect(await halves.run(result.args, contextWith())).toEqual(ok('42'));
    expect(parsed).toBe(1);
  });

  it('defineTool.execute calls the execute of the definition on an object with its fields', async () => {
    const definition = {
      ...base,
      input: z.object({}),
      capabilities: {},
      async execute() {
        return ok(String(this.name));
      },
    };
    expect(await defineTool(definition).execute({}, contextWith())).toEqual(ok('probe'));
  });

  it('defineTool parses synchronously where the schema does', () => {
    expect(tool.input?.parse({ city: 'Bern' })).not.toBeInstanceOf(Promise);
  });

  it('defineTool awaits a schema that validates asynchronously', async () => {
    const slow = defineTool({
      ...base,
      input: z.object({ id: z.string().refine(async (id) => id === 'known', 'is not known') }),
      capabilities: {},
      execute: async ({ id }) => ok(id),
    });
    expect(await slow.execute({ id: 'known' }, contextWith())).toEqual(ok('known'));
    expect(await slow.execute({ id: 'other' }, contextWith())).toEqual(
      err('id: is not known', 'input_invalid'),
    );
  });

  it('defineTool takes a schema of another vendor, with a schema beside it', async () => {
    const other = defineTool({
      ...base,
      input: schemaOf((value) => ({ value: { wrapped: value } })),
      schema: { type: 'object' },
      capabilities: {},
      execute: async (args) => ok(JSON.stringify(args)),
    });
    expect(await other.execute(1, contextWith())).toEqual(ok('{"wrapped":1}'));
  });

  it('defineTool drops a __proto__ key in arguments that the schema parses', async () => {
    const result = await tool.input?.parse(JSON.parse('{"city":"Bern","__proto__":{"days":[]}}'));
    expect(result).toStrictEqual({ ok: true, args: { city: 'Bern', days: [1] } });
  });
});

describe('defineTool when a declared accessor is missing', () => {
  const unused = () => Promise.reject(new Error('not used'));
  const spawn = unused;
  const background = { start: unused, list: unused, read: unused, write: unused, stop: unused };
  const declared: [ToolCapabilities, string, string][] = [
    [{ network: { allowedHosts: ['example.org'] } }, 'scopedFetch', 'backends'],
    [{ secrets: ['key'] }, 'secretsResolver', 'secretsBackend'],
    [{ storage: { scope: 'session', kind: 'kv' } }, 'kvStore', 'kvStoreFactory'],
    [{ fs_reach: { read: 'from-personality' } }, 'scopedFs', 'storage'],
    [{ process: { allowedBinaries: ['git'] } }, 'scopedProcess', 'backends'],
    [{ attachments: {} }, 'attachments', 'backends'],
  ];

  it.each(declared)(
    '%j names ctx.%s and says to wire %s, and does not run',
    async (capabilities, accessor, wire) => {
      const run = async () => {
        throw new Error('it ran');
      };
      const definition = { ...base, capabilities, execute: run };
      const tools = [
        defineTool({ ...definition, schema: { type: 'object' } }),
        defineTool({ ...definition, input: z.object({}) }),
      ];
      for (const tool of tools) {
        const result = await tool.execute({}, contextWith());
        expect(result).toMatchObject({ ok: false, code: 'not_available' });
        expect(result).toHaveProperty('error', expect.stringContaining(`ctx.${accessor}`));
        expect(result).toHaveProperty('error', expect.stringContaining(wire));
      }
    },
  );

  it.each([
    [true, { spawn }, 'not_available'],
    [false, { spawn }, 'ran'],
    [true, { spawn, background }, 'ran'],
  ])('looks for background when it is declared %s', async (declares, scopedProcess, expected) => {
    const tool = defineTool({
      ...base,
      schema: { type: 'object' },
      capabilities: { process: { allowedBinaries: ['npm'], background: declares } },
      execute: async () => ok('ran'),
    });
    const result = await tool.execute({}, contextWith({ scopedProcess }));
    expect(result).toMatchObject(
      expected === 'ran'
        ? { value: 'ran' }
        : { code: expected, error: expect.stringContaining('ctx.scopedProcess.background') },
    );
  });

  it('runs when every declared accessor is there, and gets the very context', async () => {
    const kvStore = {
      get: async () => 'kept',
      set: async () => {},
      delete: async () => {},
      list: async () => [],
    };
    const ctx = contextWith({ kvStore });
    const tool = defineTool({
      ...base,
      schema: { type: 'object' },
      capabilities: { storage: { scope: 'session', kind: 'kv' } },
      execute: async (_args, given) =>
        ok(`${await given.kvStore.get('k')} ${String(given === ctx)}`),
    });
    expect(await tool.execute({}, ctx)).toEqual(ok('kept true'));
  });

  it('counts an accessor that is undefined as missing', async () => {
    const tool = defineTool({
      ...base,
      schema: { type: 'object' },
      capabilities: { storage: { scope: 'session', kind: 'kv' } },
      execute: async () => ok(''),
    });
    const ctx = Object.assign(contextWith(), { kvStore: undefined });
    expect(await tool.execute({}, ctx)).toMatchObject({ code: 'not_available' });
  });

  it('asks for nothing that is declared as undefined', async () => {
    const capabilities: ToolCapabilities = {};
    Object.assign(capabilities, { network: undefined });
    const tool = defineTool({
      ...base,
      input: z.object({}),
      capabilities,
      execute: async () => ok('ran'),
    });
    expect(await tool.execute({}, contextWith())).toEqual(ok('ran'));
  });
});

describe('defineTool refuses at definition', () => {
  const good = {
    ...base,
    schema: { type: 'object' },
    capabilities: {},
    execute: async () => ok(''),
  };
  const { schema: _, ...withoutSchema } = good;
  const jsonSchema = { input: () => ({ type: 'string' }), output: () => ({}) };

  it.each([
    ['an empty name', { ...good, name: '' }],
    ['a name with a space', { ...good, name: 'read file' }],
    ['a name with a dot', { ...good, name: 'fs.read' }],
    ['a name of 65 characters', { ...good, name: 'x'.repeat(65) }],
    ['a name with a line break at the end', { ...good, name: 'x\n' }],
    ['a name that is no string', { ...good, name: 7 }],
    ['an empty description', { ...good, description: ' ' }],
    ['no capabilities', { ...good, capabilities: undefined }],
    ['no execute', { ...good, execute: undefined }],
    ['neither input nor schema', withoutSchema],
    ['an input that is no Standard Schema', { ...good, input: { type: 'object' } }],
    ['an input that is null', { ...good, input: null }],
    [
      'an input without Standard JSON Schema',
      { ...withoutSchema, input: schemaOf(() => ({ value: 1 })) },
    ],
    ['an input of a date', { ...withoutSchema, input: z.object({ at: z.date() }) }],
    ['an input of a string', { ...withoutSchema, input: z.string() }],
    [
      'an input of a union that is not of objects alone',
      { ...withoutSchema, input: z.union([z.object({}), z.string()]) },
    ],
    [
      'an input of another vendor that is a string',
      { ...withoutSchema, input: schemaOf(() => ({ value: 1 }), jsonSchema) },
    ],
  ])('%s with TOOL_INVALID', (_name, definition) => {
    const untyped: unknown = definition;
    expect(() => defineTool(untyped as typeof good)).toThrow(
      expect.objectContaining({ code: 'TOOL_INVALID' }),
    );
  });

  it.each<[string, object, RegExp]>([
    ['a shape', { ...withoutSchema, input: { at: z.string() } }, /z\.object\(.* as `schema`/],
    [
      'a date',
      { ...withoutSchema, input: z.object({ at: z.date() }) },
      /\(Date .* a text for a date/,
    ],
    [
      'inputSchema',
      { ...withoutSchema, inputSchema: z.object({}) },
      /`inputSchema`.* write `input`/,
    ],
    [
      'input_schema',
      { ...withoutSchema, input_schema: {} },
      /write `input` .*or `schema` for JSON/,
    ],
    ['parameters', { ...withoutSchema, parameters: z.object({}) }, /`parameters`.* write `input`/],
    ['args', { ...withoutSchema, args: z.object({}) }, /`args`.* write `input`/],
    ['handler', { ...good, execute: undefined, handler: good.execute }, /`handler`.* `execute`/],
    ['run', { ...good, execute: undefined, run: good.execute }, /`run`.* write `execute`/],
    ['desc', { ...good, description: undefined, desc: 'x' }, /`desc`.* write `description`/],
    ['needsApproval', { ...good, needsApproval: true }, /`needsApproval`.* `requiresApproval`/],
    ['requires_approval', { ...good, requires_approval: true }, /write `requiresApproval`/],
    ['timeout', { ...good, timeout: 5 }, /`timeout`.* write `timeoutMs`/],
    ['untrusted', { ...good, untrusted: true }, /`untrusted`.* write `outputIsUntrusted`/],
    [
      'several at once',
      { ...withoutSchema, execute: undefined, inputSchema: {}, run: good.execute },
      /write `input` .*; `run` is no property of a tool; write `execute`/,
    ],
    [
      'a limit below 0',
      { ...good, maxResultChars: -1 },
      /`maxResultChars` that is no number above/,
    ],
    [
      'a time that is no number',
      { ...good, timeoutMs: '5' },
      /`timeoutMs` that is no number above/,
    ],
    ['neither', withoutSchema, /write `input` for a Standard Schema .* `schema` for JSON Schema/],
  ])('a definition with %s, and says what is meant', (_name, definition, message) => {
    const untyped: unknown = definition;
    const define = () => defineTool(untyped as typeof good);
    expect(define).toThrow(expect.objectContaining({ code: 'TOOL_INVALID' }));
    expect(define).toThrow(message);
  });

  it('no definition', () => {
    expect(() => Reflect.apply(defineTool, undefined, [])).toThrow(
      'a tool has no definition; give an object',
    );
  });

  it.each(Object.keys({ parameters: 0, args: 0, run: 0, handler: 0, id: 0, version: 0, title: 0 }))(
    'but takes %s beside what a tool has, for whoever reads it',
    (name) => {
      expect(defineTool({ ...good, [name]: 'mine' })).toMatchObject({ [name]: 'mine' });
    },
  );

  it.each(['a', 'x'.repeat(64), 'mcp__github__list-issues', 'Read_File-2'])(
    'but takes the name %s',
    (name) => {
      expect(defineTool({ ...good, name }).name).toBe(name);
    },
  );
});
