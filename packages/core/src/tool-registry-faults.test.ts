import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from './approval.js';
import type { PersonalityFsReach } from './backends.js';
import { CallScope } from './call-scope.js';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };

describe('an approval', () => {
  const cautious = (capabilities: AnyTool['capabilities']) =>
    makeTool('cautious', () => ok('ran'), { capabilities, requiresApproval: true });

  it.each<[string, (registry: DefaultToolRegistry, reach: PersonalityFsReach) => void]>([
    ['its reach grew', (_, reach) => reach.read.push('/b')],
    ['the tool was replaced', (registry) => registry.register(makeTool('cautious'))],
    ['the tool was removed', (registry) => registry.unregister('cautious')],
  ])('is worth nothing when %s while it waited', async (_name, change) => {
    const reach: PersonalityFsReach = { read: ['/a'], write: [] };
    const shown: ApprovalRequest[] = [];
    const registry: DefaultToolRegistry = new DefaultToolRegistry({
      personalityFsReach: reach,
      approve: async (request) => {
        shown.push(request);
        await Promise.resolve();
        change(registry, reach);
        return true;
      },
    });
    registry.register(cautious({ fs_reach: { read: 'from-personality' } }));
    const result = await runOne(registry, 'cautious');
    expect(shown[0]?.capabilities.fs_reach?.read).toEqual(['/a']);
    expect(result).toMatchObject({
      ok: false,
      code: 'not_available',
      error: expect.stringContaining('changed while it waited'),
    });
  });
});

describe('a grant that is kept', () => {
  it('is not used when the personality denies more since', async () => {
    const reach: PersonalityFsReach = { read: ['/data'], write: [], deny: [] };
    const registry = new DefaultToolRegistry({
      storage: untyped({ read: async () => 'text', write() {}, exists() {}, list() {} }),
      personalityFsReach: reach,
    });
    registry.register(
      makeTool('reads', async (_, ctx) => ok(String(await ctx.scopedFs?.read('/data/x'))), {
        capabilities: { fs_reach: { read: 'from-personality' } },
      }),
    );
    expect(await runOne(registry, 'reads')).toEqual(ok('text'));
    reach.deny?.push('/data/x');
    expect(await runOne(registry, 'reads')).toMatchObject({
      error: expect.stringMatching(/^PATH_NOT_REACHABLE: read not permitted for \/data\/x: .*deny/),
    });
  });

  it('is not used when the consent to private addresses was withdrawn', async () => {
    const registry = new DefaultToolRegistry({
      personalityNetworkAllow: ['*'],
      fetch: async () => new Response('reached'),
    });
    registry.register(
      makeTool(
        'fetches',
        async (_, ctx) =>
          ok(String(await (await ctx.scopedFetch?.fetch('http://10.0.0.1/'))?.text())),
        { capabilities: { network: { allowedHosts: ['*'] } } },
      ),
    );
    const under = (allow_private_urls: boolean) =>
      runOne(registry, 'fetches', {}, { networkPolicy: { allow_private_urls } });
    expect(await under(true)).toEqual(ok('reached'));
    expect(await under(false)).toMatchObject({ error: expect.stringMatching(/^HOST_NOT_ALLOWED/) });
  });
});

describe('CallScope.end', () => {
  it('undoes everything, also what comes after a thing that can not be undone', () => {
    const scope = new CallScope(journal, { toolName: 't', toolCallId: 'c' });
    const undone: string[] = [];
    scope.onEnd(() => {
      throw new Error('EMFILE');
    });
    scope.onEnd(() => undone.push('second'));
    scope.end();
    expect(undone).toEqual(['second']);
  });
});

describe('a host’s callbacks', () => {
  it('may fail without harm: reducers that throw when asked for, and an emitter that rejects', async () => {
    const reducers = {
      register: () => () => {},
      get: () => {
        throw new Error('no reducers today');
      },
    };
    const registry = new DefaultToolRegistry({}, untyped(reducers));
    registry.register(
      makeTool('emits', (_, ctx) => {
        ctx.emit({ type: 'progress', toolName: 'emits', message: 'hello' });
        return ok('done');
      }),
    );
    const emit = untyped(async () => Promise.reject(new Error('listener')));
    const results = await registry.executeParallel(
      [{ toolCallId: 'c', name: 'emits', args: {} }],
      batchContext({ emit }),
    );
    expect(results).toMatchObject([{ result: { ok: false, error: 'no reducers today' } }]);
  });
});

describe('DefaultToolRegistry.register', () => {
  it.each([
    ['an unknown scope', { scope: 'global', kind: 'kv' }],
    ['no scope', { kind: 'kv' }],
    ['another kind', { scope: 'session', kind: 'queue' }],
    ['null', null],
  ])('refuses storage with %s', (_name, storage) => {
    const tool = makeTool('t', undefined, { capabilities: { storage: untyped(storage) } });
    expect(() => new DefaultToolRegistry().register(tool)).toThrow(/^TOOL_INVALID: t: /);
  });
});

describe('DefaultToolRegistry.register, for authors without types', () => {
  it.each<[string, unknown, string]>([
    ['an invalid capability', { filesystem: {} }, 'capabilities.filesystem is not a capability'],
    [
      'a misspelt part of one',
      { fs_reach: { reed: [] } },
      'capabilities.fs_reach.reed is not a key',
    ],
    ['hosts that are no list', { network: { allowedHosts: 'x' } }, 'not a list of strings'],
  ])('refuses %s', (_name, capabilities, message) => {
    const tool = makeTool('t', undefined, { capabilities: untyped(capabilities) });
    expect(() => new DefaultToolRegistry().register(tool)).toThrow(message);
  });

  it('refuses a schema that is not JSON, and shares none that can be changed', () => {
    const registry = new DefaultToolRegistry();
    const parse = { parse: () => {} };
    expect(() => registry.register(makeTool('t', undefined, { schema: parse }))).toThrow(
      /^TOOL_INVALID: t: schema\.parse is a function/,
    );
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    registry.register(makeTool('t', undefined, { schema }));
    const [definition] = registry.toDefinitions();
    expect(definition?.parameters).toEqual(schema);
    expect(() => Object.assign(Object(definition?.parameters.properties), { b: 1 })).toThrow();
  });
});

describe('executeParallel', () => {
  it.each<[string, unknown, unknown[]]>([
    ['nothing', undefined, []],
    [
      'a list of null',
      [null],
      [
        {
          result: {
            ok: false,
            code: 'input_invalid',
            error: expect.stringMatching(/^the call is not an object/),
          },
        },
      ],
    ],
    [
      'a call in the words of another framework',
      [{ toolCallId: 'c', toolName: 'x', input: {} }],
      [
        {
          toolCallId: 'c',
          result: {
            code: 'input_invalid',
            error: 'the call is not an object with toolCallId, name and args',
          },
        },
      ],
    ],
  ])('answers %s', async (_name, calls, expected) => {
    const results = await new DefaultToolRegistry().executeParallel(untyped(calls), batchContext());
    expect(results).toMatchObject(expected);
  });
});

describe('validateToolsForPersonality', () => {
  it('takes every registered tool', () => {
    const registry = new DefaultToolRegistry();
    for (const name of ['a', 'b']) {
      registry.register(
        makeTool(name, undefined, { capabilities: { fs_reach: { read: ['/data'] } } }),
      );
    }
    const personality: PersonalityConfig = { id: 'p', name: 'P' };
    expect(registry.validateToolsForPersonality(personality).map(({ tool }) => tool)).toEqual([
      'a',
      'b',
    ]);
  });
});
