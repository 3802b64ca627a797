import { errorCodeOf, type PersonalityConfig } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentTools } from './api.js';
import { decideOn } from './fixtures/decide-on.js';
import { doneOf, eventsOf, World } from './fixtures/world.js';
import { registryTools } from './registry-tools.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

/** The tools of two personalities, one of which is active, as in a runtime. */
function switched(safetyOf: Record<string, PersonalityConfig['safety']> = {}) {
  let active = 'reader';
  const own = (id: string) => {
    const { folder } = world;
    const { safety: _, ...config } = world.personality;
    const safety = safetyOf[id];
    const personality = { ...config, id, name: id, ...(safety !== undefined && { safety }) };
    return registryTools(world.registry, personality, { workingDir: folder });
  };
  const asked: (string | undefined)[] = [];
  const tools: AgentTools = {
    personality: (id) => own(id ?? active).personality(id),
    definitions(id) {
      asked.push(id);
      return own(id ?? active).definitions(id);
    },
    tool: (name) => world.registry.get(name),
    execute(calls, options) {
      asked.push(options.personality);
      return own(options.personality ?? active).execute(calls, options);
    },
  };
  return {
    tools,
    asked,
    switchTo(id: string) {
      active = id;
    },
  };
}

const identity = { memoryScope: 'global' } as const;

describe('a turn', () => {
  it('runs to its end under the personality that it began under', async () => {
    const { tools, asked, switchTo } = switched({ writer: { untrusted: { write: 'allow' } } });
    const loop = world.loop(
      [
        { calls: [{ name: 'fetch_page', args: { url: 'a' } }] },
        { calls: [{ id: 'w', name: 'write_note', args: { path: 'a.txt', text: 'evil' } }] },
      ],
      { tools, identity },
    );
    const events = [];
    for await (const event of loop.run({ sessionId: 's', prompt: 'Read' })) {
      events.push(event);
      if (event.type === 'tool_end') switchTo('writer');
    }
    expect(doneOf(events)).toMatchObject({ end: 'paused', approvals: [{ toolCallId: 'w' }] });
    expect(world.ran).toEqual(['fetch_page a']);
    expect(new Set(asked)).toEqual(new Set(['reader']));
  });

  it('is not resumed under another one, but can be given up', async () => {
    const { tools, switchTo } = switched();
    const loop = world.loop([{ calls: [{ id: 'p', name: 'pay', args: { amount: 1 } }] }], {
      tools,
      identity,
    });
    await eventsOf(loop.run({ sessionId: 's', prompt: 'Pay' }));
    await decideOn(loop, 's', { toolCallId: 'p', approved: true });
    switchTo('writer');
    const code = await eventsOf(loop.resume({ sessionId: 's' })).catch(errorCodeOf);
    expect(code).toBe('TURN_INVALID');
    expect(world.ran).toEqual([]);
    switchTo('reader');
    expect(doneOf(await eventsOf(loop.resume({ sessionId: 's' })))).toMatchObject({
      end: 'answered',
    });
    expect(world.ran).toEqual(['pay 1']);
    switchTo('writer');
    expect(await loop.ask({ sessionId: 's', prompt: 'Go on' })).toMatchObject({ end: 'answered' });
  });
});
