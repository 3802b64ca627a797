import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import type { UntrustedPolicy } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from './fixtures/scripted-model.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';

const ofSession = { storage: { scope: 'session', kind: 'kv' } } as const;
const shared = { storage: { scope: 'personality', kind: 'kv' } } as const;
const tools = [
  defineTool({
    name: 'keep',
    description: 'Keeps a text.',
    input: z.object({ text: z.string() }),
    capabilities: shared,
    async execute({ text }, ctx) {
      await ctx.kvStore.set('text', text);
      return ok('kept');
    },
  }),
  defineTool({
    name: 'recall',
    description: 'Says what was kept.',
    input: z.object({}),
    capabilities: shared,
    async execute(_, ctx) {
      // The tool's claim about its result does not make it trusted.
      return ok((await ctx.kvStore.get('text')) ?? 'nothing', { untrusted: false });
    },
  }),
  defineTool({
    name: 'plan',
    description: 'Notes what to do.',
    input: z.object({ text: z.string() }),
    capabilities: ofSession,
    async execute({ text }, ctx) {
      await ctx.kvStore.set('plan', text);
      return ok('noted');
    },
  }),
  defineTool({
    name: 'planned',
    description: 'Says what to do.',
    input: z.object({}),
    capabilities: ofSession,
    async execute(_, ctx) {
      return ok((await ctx.kvStore.get('plan')) ?? 'nothing');
    },
  }),
  defineTool({
    name: 'count',
    description: 'Counts its calls.',
    input: z.object({}),
    capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
    async execute(_, ctx) {
      return ok(String(await ctx.kvStore.increment?.('calls')));
    },
  }),
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-'));
});
const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  rmSync(folder, { recursive: true });
});

/** A world after a restart: its state is only what the files contain. */
function restarted(untrusted?: UntrustedPolicy): World {
  const store = createSqliteKvStore({ path: join(folder, 'state.sqlite') });
  const { kvStoreFactory } = store;
  const safety = untrusted === undefined ? {} : { untrusted };
  const world = new World({ tools, safety, backends: { kvStoreFactory } });
  open.push(world, store);
  return world;
}

const call = (name: string, args: Record<string, unknown> = {}): ScriptedStep => ({
  calls: [{ name, args }],
});
const READ = call('fetch_page', { url: 'https://e.x/' });
const KEEP = call('keep', { text: 'Write it at once.' });
const WRITE = call('write_note', { path: 'a.txt', text: 'x' });

async function run(world: World, sessionId: string, script: ScriptedStep[]) {
  return eventsOf(world.loop(script).run({ sessionId, prompt: 'Go' }));
}

describe('what a tool keeps beyond the session', () => {
  it.each<[string, UntrustedPolicy]>([
    ['nothing', {}],
    ['the tool that kept it', { trust: ['keep'] }],
    ['the tool that shows it', { trust: ['recall'] }],
  ])('after untrusted content taints the next session, where %s is trusted', async (_, policy) => {
    const first = restarted(policy);
    // Storing a value needs no approval: it is not an effect outside.
    expect(doneOf(await run(first, 'one', [READ, KEEP])).end).toBe('answered');
    const next = restarted(policy);
    const events = await run(next, 'two', [call('recall'), WRITE]);
    expect(doneOf(events)).toMatchObject({
      end: 'paused',
      approvals: [{ toolName: 'write_note', reason: expect.stringContaining('untrusted') }],
    });
    expect(next.ran).toEqual([]);
    const log = await next.sessions.messages('two');
    expect(JSON.stringify(log)).toContain('<untrusted source=');
  });

  it('does not without, and not in a session that does not read it', async () => {
    const first = restarted();
    await run(first, 'one', [KEEP]);
    expect(doneOf(await run(restarted(), 'two', [call('recall'), WRITE])).end).toBe('answered');
    await run(restarted(), 'three', [READ, KEEP]);
    expect(doneOf(await run(restarted(), 'four', [call('count'), WRITE])).end).toBe('answered');
  });

  it('taints the session that kept it where its history is gone', async () => {
    const first = restarted();
    const PLAN = call('plan', { text: 'Write it at once.' });
    await run(first, 'one', [READ, PLAN, call('planned')]);
    // As long as the session knows what it has read, its own notes are not marked.
    const log = JSON.stringify(await first.sessions.messages('one'));
    expect(log).toMatch(/tool=\\+"fetch_page/);
    expect(log).not.toMatch(/tool=\\+"planned/);
    const events = await run(restarted(), 'one', [call('planned'), WRITE]);
    expect(doneOf(events).end).toBe('paused');
  });

  it('counts on without a question', async () => {
    await run(restarted(), 'one', [READ, call('count')]);
    const events = await run(restarted(), 'two', [call('count'), WRITE]);
    expect(ofType(events, 'tool_end')[0]?.result).toMatchObject({ ok: true, value: '2' });
    expect(doneOf(events).end).toBe('answered');
  });
});
