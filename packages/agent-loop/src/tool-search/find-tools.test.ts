import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { inCheck } from '@ethosagent/test-support';
import type { AnyTool } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bytesOf } from '../context/fixtures/long-work.js';
import type { Asked, ScriptedStep } from '../fixtures/scripted-model.js';
import { scriptedModel } from '../fixtures/scripted-model.js';
import { World } from '../fixtures/world.js';
import { registryTools } from '../registry-tools.js';

let world: World | undefined;
afterEach(() => world?.close());

const THINGS = ['issue', 'branch', 'invoice', 'calendar', 'photo', 'parcel', 'recipe', 'ticket'];

/** A tool of a server that reports when it ran. */
const tool = (name: string, more: Partial<AnyTool> = {}): AnyTool => ({
  ...defineTool({
    name,
    description: `Works with the ${name.split('_').at(-1)} of a customer. ${'It is described at length. '.repeat(12)}`,
    input: z.object({ id: z.string().describe('Which one.') }),
    capabilities: {},
    execute: async ({ id }) => ok(`${name} did ${id}`),
  }),
  ...more,
});
const many = () => THINGS.map((thing) => tool(`mcp__shop__get_${thing}`));
const find = (id: string, query: unknown): ScriptedStep => ({
  calls: [{ id, name: 'find_tools', args: { query } }],
});
const namesOf = ({ tools = [] }: Asked) => tools.map(({ name }) => name);
const textOf = (asked: Asked | undefined) => JSON.stringify(asked?.prompt.at(-1));

/** Runs a script. Returns the requests to the model. */
async function run(script: ScriptedStep[], options: Parameters<World['loop']>[1] = {}) {
  const model = scriptedModel(script);
  const end = await world?.loop(model, options).ask({ sessionId: 's', prompt: 'Go.' });
  return { end, asked: model.doStreamCalls };
}

describe('find_tools', () => {
  it('is offered instead of the tools of servers once all are more than the share', async () => {
    world = new World({ tools: [tool('own'), ...many()] });
    const script = [
      find('f1', 'show an invoice'),
      { calls: [{ id: 'c1', name: 'mcp__shop__get_invoice', args: { id: '7' } }] },
      find('f2', 'the photo of a parcel, and an invoice'),
      { text: 'Done.' },
    ];
    const { end, asked } = await run(script, {
      context: { window: 10_000 },
      toolSearch: { limit: 2 },
    });
    expect(end).toMatchObject({ end: 'answered', text: 'Done.' });
    const first = namesOf(asked[0] ?? expect.fail());
    expect(first.at(-1)).toBe('find_tools');
    expect(first).toContain('own');
    expect(first.filter((name) => name.startsWith('mcp__'))).toEqual([]);
    expect(textOf(asked[1])).toContain('- mcp__shop__get_invoice: Works with the invoice');
    expect(textOf(asked[2])).toContain('mcp__shop__get_invoice did 7');
    // Found tools come last, once each, in the order in which they were found, and stay.
    for (const [at, now] of asked.entries()) {
      const before = asked[at - 1];
      if (before === undefined) continue;
      const [old, tools] = [before.tools ?? [], now.tools ?? []];
      expect(JSON.stringify(tools.slice(0, old.length))).toBe(JSON.stringify(old));
      expect(bytesOf(now).messages.slice(0, bytesOf(before).messages.length)).toEqual(
        bytesOf(before).messages,
      );
    }
    const last = namesOf(asked.at(-1) ?? expect.fail());
    expect(new Set(last).size).toBe(last.length);
    expect(last).toEqual(expect.arrayContaining(['mcp__shop__get_photo', 'mcp__shop__get_parcel']));
  });

  it('keeps what was found in later turns, and after the process was another one', async () => {
    world = new World({ tools: many() });
    const options = { context: { window: 10_000 } };
    await run([find('f', 'recipe'), { text: 'a' }], options);
    const { asked } = await run([{ text: 'b' }], options);
    expect(namesOf(asked[0] ?? expect.fail())).toContain('mcp__shop__get_recipe');
    expect(namesOf(asked[0] ?? expect.fail()).at(-1)).not.toBe('find_tools');
  });

  it('finds no tool that the personality may not use, by any words', async () => {
    const hidden = [tool('mcp__bank__get_issue'), tool('own_issue', { defer: true })];
    world = new World({ tools: [...hidden, ...many()] });
    const { registry, personality, folder } = world;
    const tools = registryTools(
      registry,
      { ...personality, mcp_servers: ['shop'] },
      { workingDir: folder, toolNames: [] },
    );
    const queries = [
      'issue',
      'mcp__bank__get_issue',
      'own_issue',
      'isssue of a bank',
      '*',
      '"issue"',
    ];
    const { asked } = await run(
      [...queries.map((query, at) => find(`f${at}`, query)), { text: 'x' }],
      { tools, context: { window: 10_000 }, toolSearch: { limit: 50, share: 0 } },
    );
    const said = asked.flatMap(({ prompt }) => prompt.filter(({ role }) => role === 'tool'));
    expect(JSON.stringify(said)).toContain('mcp__shop__get_issue');
    for (const { name } of hidden) {
      expect(JSON.stringify(said)).not.toContain(`- ${name}`);
      expect(asked.flatMap(namesOf)).not.toContain(name);
    }
  });

  it('is offered for one tool that says defer, and for no tools that fit', async () => {
    world = new World({ tools: [tool('seldom_parcel', { defer: true }), tool('often')] });
    const { asked } = await run([find('f', 'parcel'), { text: 'x' }]);
    const [first, second] = asked.map(namesOf);
    expect(first).toContain('often');
    expect(first).not.toContain('seldom_parcel');
    expect(second?.at(-1)).toBe('seldom_parcel');
    world.close();
    world = new World({ tools: many() });
    const fitting = await run([{ text: 'x' }]);
    expect(fitting.asked.flatMap(namesOf)).not.toContain('find_tools');
  });

  it.each([
    ['false', { toolSearch: false as const }],
    ['a share of all', { toolSearch: { share: 1 } }],
  ])('is not there with toolSearch %s', async (_, options) => {
    world = new World({ tools: many() });
    const { asked } = await run([{ text: 'x' }], { context: { window: 10_000 }, ...options });
    const [names = []] = asked.map(namesOf);
    expect(names).not.toContain('find_tools');
    expect(names.filter((name) => name.startsWith('mcp__'))).toHaveLength(THINGS.length);
  });

  it.each(inCheck([undefined, 7, '', '  ', ['x'], { query: 'x' }], (query) => query === '  '))(
    'answers the query %j with what to give',
    async (query) => {
      world = new World({ tools: many() });
      const { end, asked } = await run([find('f', query), { text: 'x' }], {
        context: { window: 10_000 },
      });
      expect(end?.end).toBe('answered');
      expect(asked).toHaveLength(2);
      expect(namesOf(asked[1] ?? expect.fail())).toEqual(namesOf(asked[0] ?? expect.fail()));
    },
  );

  it('says so where nothing fits', async () => {
    world = new World({ tools: many() });
    const { asked } = await run([find('f', 'zzzz qqqq'), { text: 'x' }], {
      context: { window: 10_000 },
    });
    expect(textOf(asked[1])).toContain('No tool fits');
  });

  it('refuses a tool of the same name where it is needed, and leaves it be where it is not', async () => {
    world = new World({ tools: [tool('find_tools'), ...many()] });
    const own = await run(
      [{ calls: [{ id: 'c', name: 'find_tools', args: { id: '1' } }] }, { text: 'x' }],
      {
        context: { window: 1_000_000 },
      },
    );
    expect(textOf(own.asked[1])).toContain('find_tools did 1');
    const model = scriptedModel([{ text: 'x' }]);
    const end = await world
      .loop(model, { context: { window: 10_000 } })
      .ask({ sessionId: 't', prompt: 'Go.' });
    expect(end).toMatchObject({ end: 'failed', error: { code: 'CONFIG_INVALID' } });
    expect(model.doStreamCalls).toEqual([]);
  });

  it.each([
    { share: -1 },
    { share: 2 },
    { share: '1' },
    { limit: 0 },
    { limit: 51 },
    { limits: 5 },
  ])('refuses the options %j', (toolSearch) => {
    world = new World();
    expect(() => world?.loop([], { toolSearch: Object(toolSearch) })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });
});
