import type { AnyTool, ApprovalFacts, ToolContext, ToolSettings } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import { makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

/** Settings with a `limit` above zero, 10 by default. */
const settings: ToolSettings = {
  schema: { type: 'object' },
  parse(value) {
    const { limit = 10 }: { limit?: unknown } = Object(value);
    if (typeof limit === 'number' && limit > 0) return { ok: true, settings: { limit } };
    return { ok: false, issues: [{ path: ['limit'], message: 'must be above zero' }] };
  },
};

async function run(
  backends: CapabilityBackends | undefined,
  { personalityId, ...rest }: Partial<AnyTool> & { personalityId?: string } = {},
) {
  let seen: unknown = 'not run';
  const registry = new DefaultToolRegistry(backends);
  const tool = makeTool(
    'search',
    (_args, ctx) => {
      seen = ctx.settings;
      return ok('done');
    },
    { settings, ...rest },
  );
  registry.register(tool);
  const ctx = personalityId === undefined ? {} : { personalityId };
  const result = await runOne(registry, 'search', {}, ctx);
  return { result, seen };
}

const saying = (value: unknown): CapabilityBackends => ({
  personalityToolSettings: (id, tool) => (id === 'p' && tool === 'search' ? value : undefined),
});

describe('ctx.settings', () => {
  it.each<[string, CapabilityBackends | undefined, string | undefined, unknown]>([
    ['what the personality sets', saying({ limit: 3 }), 'p', { limit: 3 }],
    ['the default where it sets nothing', saying({}), 'p', { limit: 10 }],
    ['the default for another personality', saying({ limit: 3 }), 'q', { limit: 10 }],
    ['the default for no personality', saying({ limit: 3 }), undefined, { limit: 10 }],
    ['the default without backends', undefined, 'p', { limit: 10 }],
  ])('is %s', async (_name, backends, personalityId, expected) => {
    const { seen } = await run(backends, personalityId === undefined ? {} : { personalityId });
    expect(seen).toEqual(expected);
    expect(Object.isFrozen(seen)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a wrong one', { limit: 0 }],
    ['a frozen wrong one', Object.freeze({ limit: 0 })],
    ['one of another kind', { limit: 'x' }],
  ])('%s keeps the tool from running and names the key', async (_name, value) => {
    const { result, seen } = await run(saying(value), { personalityId: 'p' });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(JSON.stringify(result)).toContain('tool_settings.search.limit: must be above zero');
    expect(seen).toBe('not run');
  });

  it.each<[string, ToolSettings['parse'] | CapabilityBackends['personalityToolSettings']]>([
    [
      'a parser that throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['a parser that gives nothing', untyped(() => undefined)],
  ])('%s keeps the tool from running', async (_name, parse) => {
    const { result, seen } = await run({}, { settings: { schema: {}, parse: untyped(parse) } });
    expect([result.ok, seen]).toEqual([false, 'not run']);
  });

  it('follows what an operator changes, in place or anew', async () => {
    const value = { limit: 1 };
    const seen: unknown[] = [];
    let current: object = value;
    const registry = new DefaultToolRegistry({ personalityToolSettings: () => current });
    registry.register(
      makeTool('search', (_args, ctx) => ok(String(seen.push(ctx.settings))), { settings }),
    );
    for (const change of [
      () => {},
      () => {
        value.limit = 2;
      },
      () => {
        current = Object.freeze({ limit: 4 });
      },
      () => {
        current = Object.freeze({
          get limit() {
            return value.limit;
          },
        });
      },
      () => {
        value.limit = 5;
      },
    ]) {
      change();
      await runOne(registry, 'search');
    }
    expect(seen).toEqual([1, 2, 4, 2, 5].map((limit) => ({ limit })));
  });

  it('is made anew for each call where a schema makes more than plain data', async () => {
    const seen: unknown[] = [];
    const registry = new DefaultToolRegistry({});
    registry.register(
      makeTool(
        'search',
        (_args, ctx) => {
          if (ctx.settings instanceof Set) seen.push([...ctx.settings.add(seen.length)]);
          return ok('');
        },
        { settings: { schema: {}, parse: () => ({ ok: true, settings: new Set(['a']) }) } },
      ),
    );
    await runOne(registry, 'search');
    await runOne(registry, 'search');
    expect(seen).toEqual([
      ['a', 0],
      ['a', 1],
    ]);
  });

  it("leaves the host's own object as it is", async () => {
    const own = { deep: { n: 1 } };
    const registry = new DefaultToolRegistry({ personalityToolSettings: () => own });
    const parse = (value: unknown) => ({ ok: true as const, settings: value });
    registry.register(makeTool('search', () => ok(''), { settings: { schema: {}, parse } }));
    await runOne(registry, 'search');
    own.deep.n = 2;
    expect(own).toEqual({ deep: { n: 2 } });
  });

  it('that can not be had keep the tool from running', async () => {
    const { result, seen } = await run({
      personalityToolSettings: () => {
        throw new Error('unknown personality');
      },
    });
    expect(result).toMatchObject({ ok: false, code: 'not_available' });
    expect(seen).toBe('not run');
  });

  it('is under the key that the tool says, also for several tools', async () => {
    const seen: unknown[] = [];
    const registry = new DefaultToolRegistry({
      personalityToolSettings: (_id, key) => (key === 'family' ? { limit: 4 } : undefined),
    });
    for (const name of ['one', 'two']) {
      const execute = (_args: unknown, ctx: ToolContext) => ok(String(seen.push(ctx.settings)));
      registry.register(makeTool(name, execute, { settings, settingsKey: 'family' }));
      await runOne(registry, name);
    }
    expect(seen).toEqual([{ limit: 4 }, { limit: 4 }]);
  });

  it('is absent from a tool without settings', async () => {
    const registry = new DefaultToolRegistry(saying({ limit: 3 }));
    let has: boolean | undefined;
    registry.register(
      makeTool('search', (_args, ctx) => {
        has = 'settings' in ctx;
        return ok('');
      }),
    );
    await runOne(registry, 'search', {}, { personalityId: 'p' });
    expect(has).toBe(false);
  });
});

describe('requiresApproval with settings and a reason', () => {
  const asked: string[] = [];
  const decide = (
    requiresApproval: NonNullable<AnyTool['requiresApproval']>,
    approve: CapabilityBackends['approve'] = ({ reason }) => {
      asked.push(reason);
      return true;
    },
  ) => run({ ...saying({ limit: 3 }), approve }, { personalityId: 'p', requiresApproval });

  it.each<[string, (facts: ApprovalFacts) => unknown, string | undefined]>([
    ['no', () => false, undefined],
    ['a promise of no', async () => false, undefined],
    ['yes', () => true, 'the tool requires approval for these arguments'],
    ['a promise of yes', async () => true, 'the tool requires approval for these arguments'],
    ['a reason', () => 'it deletes x', 'it deletes x'],
    ['a promise of a reason', async () => 'it deletes x', 'it deletes x'],
    ['an empty reason', () => '', 'the tool requires approval for these arguments'],
    ['nothing', () => undefined, 'the tool requires approval for these arguments'],
    ['null', async () => null, 'the tool requires approval for these arguments'],
    ['the settings', ({ settings: s }) => JSON.stringify(s), '{"limit":3}'],
    ['where it works', (facts) => `${facts.workingDir} ${facts.personalityId}`, '/project p'],
  ])('%s', async (_name, answer, reason) => {
    asked.length = 0;
    const { result } = await decide(
      untyped((_args: unknown, facts: ApprovalFacts) => answer(facts)),
    );
    expect(result.ok).toBe(true);
    expect(asked).toEqual(reason === undefined ? [] : [reason]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('one that %s asks', async (_name, answer) => {
    asked.length = 0;
    await decide(untyped(answer));
    expect(asked).toEqual(['the tool could not decide whether it requires approval (broken)']);
  });

  it('is refused when the settings changed while it waited', async () => {
    let limit = 1;
    const registry = new DefaultToolRegistry({
      personalityToolSettings: () => ({ limit }),
      approve: () => {
        limit = 2;
        return true;
      },
    });
    registry.register(makeTool('search', undefined, { settings, requiresApproval: true }));
    expect(await runOne(registry, 'search')).toMatchObject({
      ok: false,
      error: expect.stringContaining('changed while it waited'),
    });
  });

  it('one that never answers asks when the time of the tool is up', async () => {
    asked.length = 0;
    const { result } = await run(
      { approve: ({ reason }) => asked.push(reason) < 0 },
      { timeoutMs: 50, requiresApproval: () => new Promise<boolean>(() => {}) },
    );
    expect(result.ok).toBe(false);
    expect(asked).toEqual(['the tool did not decide in time whether it requires approval']);
  });
});
