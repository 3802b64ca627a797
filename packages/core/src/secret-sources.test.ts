import type { SecretSources, ToolCapabilities, ToolContext } from '@ethosagent/types';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const KEPT: Record<string, string> = {
  'search/key': 'everybodys-value',
  'own/key': 'researchers-value',
  'third/key': 'thirds-value',
};
const HOST = 'api.test';

let asked: string[];
let sent: string[];
let audit: string[];
beforeEach(() => {
  asked = [];
  sent = [];
  audit = [];
});

function registryWith(
  sources: Record<string, SecretSources>,
  secrets: ToolCapabilities['secrets'],
  use: (ctx: ToolContext) => Promise<string | undefined>,
) {
  const registry = new DefaultToolRegistry({
    personality: (id = '') => {
      const own = sources[id];
      return own && { safety: { network: { allow: [HOST, 'other.test'] }, secrets: own } };
    },
    secretsBackend: async (ref) => {
      asked.push(ref);
      return KEPT[ref] ?? Reflect.get({}, 'none');
    },
    lookup: async () => [{ address: '93.184.216.34', family: 4 }],
    fetch: async (_url, init) => {
      sent.push(new Headers(init?.headers).get('x-key') ?? '');
      return new Response(sent.at(-1));
    },
    audit: {
      record: ({ capability, operation, decision, reason, why }) => {
        if (capability !== 'secrets') return;
        audit.push(`${operation} ${decision}: ${reason} [${why?.policy.join() ?? ''}]`);
      },
    },
  });
  const capabilities = {
    network: { allowedHosts: [HOST, 'other.test'] },
    ...(secrets && { secrets }),
  };
  const execute = async (_args: unknown, ctx: ToolContext) => ok((await use(ctx)) ?? '');
  registry.register(makeTool('t', execute, { capabilities }));
  return (personalityId: string) => runOne(registry, 't', {}, { personalityId });
}

const get = (ref: string) => (ctx: ToolContext) => Promise.resolve(ctx.secretsResolver?.get(ref));
const send = (ref: string, host: string) => async (ctx: ToolContext) => {
  const key = await ctx.secretsResolver?.handle(ref);
  const response = await ctx.scopedFetch?.fetch(`https://${host}/`, {
    headers: { 'x-key': String(key) },
  });
  return response?.text();
};

describe('a secret that a personality puts behind a ref', () => {
  const sources = {
    researcher: { 'search/key': 'own/key' },
    writer: {},
    none: { 'search/key': false },
    lost: { 'search/key': 'gone/key' },
    chained: { 'search/key': 'own/key', 'own/key': 'third/key' },
    wrong: { 'search/key': '../own/key' },
  } satisfies Record<string, SecretSources>;
  const bound = [{ ref: 'search/key', hosts: [HOST] }];

  it('is sent for it, by that personality alone, and shown under the ref of the tool', async () => {
    const as = registryWith(sources, bound, send('search/key', HOST));
    expect(await as('researcher')).toEqual(ok('[secret:search/key]'));
    expect(await as('writer')).toEqual(ok('[secret:search/key]'));
    expect(await as('chained')).toEqual(ok('[secret:search/key]'));
    expect(sent).toEqual(['researchers-value', 'everybodys-value', 'researchers-value']);
    expect(asked).toEqual(['own/key', 'search/key', 'own/key']);
    expect(audit.slice(0, 2)).toEqual([
      'handle allowed: declared as search/key, with the value of own/key [personality researcher: safety.secrets.search/key]',
      `send allowed: bound to ${HOST} [personality researcher: safety.secrets.search/key]`,
    ]);
    expect(audit[2]).toBe('handle allowed: declared as search/key []');
  });

  it('holds below a declared prefix, too', async () => {
    const as = registryWith(sources, ['search/*'], get('search/key'));
    await as('researcher');
    expect(asked).toEqual(['own/key']);
  });

  it.each(['none', 'unknown', 'wrong'])('is none for %s: nothing is asked for', async (id) => {
    for (const use of [get('search/key'), send('search/key', HOST)]) {
      const as = registryWith(sources, ['search/key'], use);
      expect(await as(id)).toMatchObject({ ok: false, cause: 'SECRET_NOT_DECLARED' });
    }
    expect([asked, sent]).toEqual([[], []]);
    expect(audit.every((line) => line.includes('denied: no secret of this personality'))).toBe(
      true,
    );
  });

  it('that is not there is an error, and the one of everybody is not asked for', async () => {
    for (const use of [get('search/key'), send('search/key', HOST)]) {
      const result = await registryWith(sources, ['search/key'], use)('lost');
      expect(result).toMatchObject({ ok: false, cause: 'CONFIG_INVALID' });
      expect(JSON.stringify(result)).toContain('gives search/key the value of gone/key');
    }
    expect([asked, sent]).toEqual([['gone/key', 'gone/key'], []]);
  });

  it.each([
    ['a tool that asks for it by its own name', get('own/key'), 'SECRET_NOT_DECLARED'],
    ['a tool that sends it by its own name', send('own/key', HOST), 'SECRET_NOT_DECLARED'],
    ['a tool that may only send the declared one', get('search/key'), 'SECRET_NOT_BOUND'],
    ['another host', send('search/key', 'other.test'), 'SECRET_NOT_BOUND'],
  ])('is not for %s', async (_, use, cause) => {
    const result = await registryWith(sources, bound, use)('researcher');
    expect(result).toMatchObject({ ok: false, cause });
    expect([asked, sent]).toEqual([[], []]);
  });

  it('is not bound to more hosts than the declared one', async () => {
    const as = registryWith(
      sources,
      [...bound, { ref: 'own/key', hosts: ['other.test'] }],
      send('search/key', 'other.test'),
    );
    expect(await as('researcher')).toMatchObject({ ok: false, cause: 'SECRET_NOT_BOUND' });
    expect([asked, sent]).toEqual([[], []]);
  });

  it('is not inherited from what every object has', async () => {
    const as = registryWith(sources, ['constructor', '__proto__'], get('constructor'));
    expect(await as('researcher')).toMatchObject({ cause: 'SECRET_NOT_FOUND' });
    expect(asked).toEqual(['constructor']);
  });
});
