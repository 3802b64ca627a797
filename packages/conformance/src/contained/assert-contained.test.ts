import { existsSync } from 'node:fs';
import { inCheck } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { assertContained } from './assert-contained.js';
import { ContainmentError } from './containment-error.js';
import { makeTool } from './fixtures/make-tool.js';
import { type ContainedWorld, SCENARIO_NAMES } from './options.js';

const readFile = makeTool(
  'read',
  { fs_reach: { read: 'from-personality' }, network: { allowedHosts: ['*.example.com'] } },
  async ({ path = '' }, { scopedFs }) => (await scopedFs?.read(path)) ?? '',
);
const args = ({ file }: ContainedWorld) => ({ path: file('notes.txt') });

describe('assertContained', () => {
  it('runs the scenarios that are wanted, and the honest one', async () => {
    const { scenarios } = await assertContained(readFile, { args, scenarios: ['aborts'] });
    expect(scenarios).toEqual(['honest', 'aborts']);
  });

  it('runs nothing that means nothing for a tool', async () => {
    const pure = makeTool('pure', {}, async () => 'done');
    const { scenarios } = await assertContained(pure, { args: {} });
    expect(scenarios).toEqual(['honest', 'aborts', 'sessions']);
  });

  it.each(['hostile', 'redirects'])(
    'refuses to pass without the wanted scenario %s',
    async (name) => {
      const pure = makeTool('pure', {}, async () => 'done');
      const scenarios = SCENARIO_NAMES.filter((known) => known === name);
      const options = {
        args: {},
        scenarios: scenarios.length > 0 ? scenarios : JSON.parse(`["${name}"]`),
      };
      await expect(assertContained(pure, options)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      });
    },
  );

  it('says what is declared and was not used', async () => {
    const { unused } = await assertContained(readFile, { args, scenarios: ['honest'] });
    expect(unused).toEqual(['network']);
  });

  it('makes the same arguments and choices again for a seed', async () => {
    const seen: unknown[][] = [];
    const tool = makeTool('seen', {}, async (given) => {
      seen.at(-1)?.push(Object.values(given).map((text) => text.length));
      return 'done';
    });
    for (const _ of [1, 2]) {
      seen.push([]);
      const scenarios = ['hostile arguments'] as const;
      const { seed } = await assertContained(tool, { args: { text: 'x' }, seed: 7, scenarios });
      expect(seed).toBe(7);
    }
    expect(seen[0]).toEqual(seen[1]);
  });

  it('gives the real fetch, the real processes and an empty disk back, also after a failure', async () => {
    const { fetch } = globalThis;
    const worlds: string[] = [];
    const bad = makeTool('bad', {}, async (_, { workingDir }) => {
      worlds.push(workingDir);
      throw new Error('no');
    });
    await expect(assertContained(bad, { args: {} })).rejects.toThrow(ContainmentError);
    expect(globalThis.fetch).toBe(fetch);
    expect(worlds).not.toEqual([]);
    expect(worlds.filter((folder) => existsSync(folder))).toEqual([]);
    expect(process.env).not.toHaveProperty('ETHOS_CONTAINED');
  });

  const served: Array<[string, string[] | undefined]> = [
    ['*', ['api.example.org']],
    ['*', ['*.example.org']],
    ['*.example.org', undefined],
    ['api.example.org:8443', undefined],
  ];
  it.each(inCheck(served, ([, allow]) => allow?.[0] === '*.example.org'))(
    'serves a tool that declares %j to a personality with %j',
    async (declared, allow) => {
      const tool = makeTool(
        'fetch',
        { network: { allowedHosts: [declared] } },
        async ({ url = '' }, { scopedFetch }) => `${await (await scopedFetch?.fetch(url))?.text()}`,
      );
      const port = declared.split(':')[1] ?? '';
      const { unused, tries } = await assertContained(tool, {
        args: { url: `https://api.example.org:${port}/page` },
        ...(allow && { personality: { safety: { network: { allow } } } }),
        scenarios: ['redirects'],
      });
      expect(unused).toEqual([]);
      expect(tries.get('network')).toBeGreaterThan(50);
    },
  );

  it('lets runs take turns', async () => {
    const order: string[] = [];
    const run = (name: string) =>
      assertContained(
        makeTool(name, {}, async () => `${order.push(name)}`),
        { args: {}, scenarios: ['honest'] },
      );
    await Promise.all([run('first'), run('second'), run('third')]);
    expect(order).toEqual([...order].sort());
    expect(new Set(order).size).toBe(3);
  });

  it('runs a tool with a schema, that waits for approval, with attachments', async () => {
    const tool = makeTool('all', { attachments: {} }, async (_, { attachments }) => {
      const [first] = (await attachments?.list()) ?? [];
      return Buffer.from((await attachments?.read(first?.id ?? '')) ?? []).toString();
    });
    const { unused } = await assertContained(
      {
        ...tool,
        requiresApproval: true,
        input: {
          parse: (given) => ({ ok: true, args: given }),
          run: (given, ctx) => tool.execute(given, ctx),
        },
      },
      {
        args: {},
        attachments: [
          {
            id: 'a',
            name: 'a.txt',
            mediaType: 'text/plain',
            sizeBytes: 2,
            bytes: Buffer.from('hi'),
          },
        ],
        scenarios: ['honest'],
      },
    );
    expect(unused).toEqual([]);
  });
});
