import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AnyTool, errorCodeOf } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const server = createServer((_, response) => response.end('page'));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

const open = { allow_private_urls: true };

const WITH_REACH: Partial<AnyTool> = { capabilities: { fs_reach: { read: ['/a'] } } };
const WITH_SETTINGS: Partial<AnyTool> = {
  settings: { schema: {}, parse: (settings) => ({ ok: true, settings }) },
};

/** A registry whose tool fetches a page and runs a program. */
function registryOver(backends: unknown) {
  const registry: DefaultToolRegistry = Reflect.construct(DefaultToolRegistry, [backends]);
  const { port } = Object(server.address()) as AddressInfo;
  registry.register(
    makeTool(
      't',
      async (_, ctx) => {
        const response = await ctx.scopedFetch?.fetch(`http://127.0.0.1:${port}/`);
        await ctx.scopedProcess?.spawn('true', []);
        return ok((await response?.text()) ?? '');
      },
      {
        capabilities: {
          network: { allowedHosts: ['127.0.0.1'] },
          process: { allowedBinaries: ['true'] },
        },
      },
    ),
  );
  return registry;
}

const run = (backends: unknown) => runOne(registryOver(backends), 't', {}, { networkPolicy: open });

it('a call runs whose personality sets nothing', async () => {
  expect(await run({ personality: () => ({}) })).toEqual(ok('page'));
});

describe('a policy of another kind limits everything', () => {
  const later = <T>(value: T) => Promise.resolve(value);
  it.each<[name: string, backends: object, tool?: Partial<AnyTool>]>([
    ['a promise of a personality', { personality: async () => ({ safety: {} }) }],
    ['a promise that fails', { personality: () => Promise.reject(new TypeError('no file')) }],
    ['the id of a personality', { personality: () => 'coder' }],
    ['a list', { personality: () => [] }],
    ['a misspelt safety', { personality: () => ({ saftey: {} }) }],
    ['a promise of safety', { personality: () => ({ safety: later({}) }) }],
    ['a promise of hosts', { personality: () => ({ safety: { network: later({}) } }) }],
    ['a misspelt list', { personality: () => ({ safety: { network: { alow: [] } } }) }],
    ['no list', { personality: () => ({ safety: { network: { allow: null } } }) }],
    ['a text for a list', { personality: () => ({ safety: { network: { deny: '*' } } }) }],
    [
      'settings that come later',
      { personality: () => ({ tool_settings: later({}) }) },
      WITH_SETTINGS,
    ],
    ['a promise of the policy for processes', { personalityProcess: async () => ({}) }],
    ['no policy for processes', { personalityProcess: () => null }],
    ['a misspelt sandbox', { personalityProcess: { sandbox: 'Required' } }],
    ['arguments in a text', { personalityProcess: { arguments: { true: { deny: '-c' } } } }],
    ['a promise of quotas', { personalityQuotas: async () => ({}) }],
    ['a misspelt quota', { personalityQuotas: { per_call: { request: 0 } } }],
    ['quotas that are null', { personalityQuotas: { per_call: { requests: null } } }],
    ['a quota that is a text', { personalityQuotas: { per_call: { requests: '9' } } }],
    ['a promise of a list', { personalityNetworkAllow: async () => ['127.0.0.1'] }],
    [
      'a promise of a reach',
      { personalityFsReach: async () => ({ read: [], write: [] }) },
      WITH_REACH,
    ],
  ])('%s', async (_name, backends, tool) => {
    const registry = registryOver(backends);
    if (tool !== undefined) registry.register(makeTool('t', undefined, tool));
    const result = await runOne(registry, 't', {}, { networkPolicy: open });
    expect(result).toMatchObject({ ok: false, error: expect.stringContaining('CONFIG_INVALID') });
  });

  it.each<[string, object]>([
    ['personality', { personality: { safety: {} } }],
    ['personalityNetworkAllow', { personalityNetworkAllow: null }],
    ['personalityProcess', { personalityProcess: 'required' }],
    ['denyPaths', { denyPaths: '/etc' }],
    ['audit', { audit: () => undefined }],
    ['approve', { approve: true }],
  ])('and %s of another kind is refused at once', (name, backends) => {
    expect(() => registryOver(backends)).toThrow(
      new RegExp(`CONFIG_INVALID: backends of .*: ${name} must be `),
    );
  });
});

describe('a batch of another kind runs no call', () => {
  let ran = 0;
  const registry = new DefaultToolRegistry();
  registry.register(makeTool('t', () => ok(`${++ran}`)));
  const call = { toolCallId: '1', name: 't', args: {} };
  const names = ['t'];

  it.each<[string, ...unknown[]]>([
    ['no context', undefined],
    ['a promise of a context', Promise.resolve(batchContext())],
    ['a text for dryRun', { ...batchContext(), dryRun: 'true' }],
    ['a promise for dryRun', { ...batchContext(), dryRun: Promise.resolve(true) }],
    ['a budget that is no number', { ...batchContext(), resultBudgetChars: Number.NaN }],
    ['a budget that is a text', { ...batchContext(), resultBudgetChars: '10' }],
    ['a controller for a signal', { ...batchContext(), abortSignal: new AbortController() }],
    ['a policy that comes later', { ...batchContext(), networkPolicy: Promise.resolve({}) }],
    ['a misspelt policy', { ...batchContext(), networkPolicy: { denny: ['*'] } }],
    ['a text for the tools', batchContext(), 't'],
    ['null for the tools', batchContext(), null],
    ['a misspelt filter', batchContext(), names, { excludeTool: names }],
    ['a promise of filters', batchContext(), names, Promise.resolve({ excludeTools: names })],
    ['null for a filter', batchContext(), names, { excludeTools: null }],
    ['a list in a list', batchContext(), names, { excludeTools: [names] }],
  ])('%s', async (_name, ...rest) => {
    const answers: unknown = await Reflect.apply(registry.executeParallel, registry, [
      [call],
      ...rest,
    ]);
    expect(answers).toEqual([
      {
        toolCallId: '1',
        name: 't',
        result: {
          ok: false,
          code: 'not_available',
          cause: 'CONFIG_INVALID',
          error: expect.stringContaining('CONFIG_INVALID'),
        },
      },
    ]);
    expect(ran).toBe(0);
  });

  it.each([{ plugin: 'p' }, { pluginId: 5 }, 'p', null])('a tool of the plugin %j', (opts) => {
    let code: unknown;
    try {
      Reflect.apply(registry.register, registry, [makeTool('other'), opts]);
    } catch (error) {
      code = errorCodeOf(error);
    }
    expect(code).toBe('CONFIG_INVALID');
    expect(registry.get('other')).toBeUndefined();
  });
});
