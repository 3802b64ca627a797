import { EthosError, type FailureCause } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from './api.js';
import { scriptedModel } from './fixtures/scripted-model.js';
import { eventsOf, ofType, World } from './fixtures/world.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const causesOf = (events: AgentEvent[]) =>
  ofType(events, 'tool_end').map(({ result }) => (result.ok ? undefined : result.cause));

function register(name: string, execute: () => Promise<never>): void {
  world.registry.register({ name, description: name, schema: {}, capabilities: {}, execute });
}

describe('the cause of a failed call, in the events of a turn', () => {
  it.each<[string, DOMException, FailureCause]>([
    ['an abort', new DOMException('by the user', 'AbortError'), 'CALL_ABORTED'],
    ['a time-out of the host', new DOMException('late', 'TimeoutError'), 'CALL_TIMED_OUT'],
  ])('tells %s', async (_what, reason, cause) => {
    const controller = new AbortController();
    register('hang', () => {
      queueMicrotask(() => controller.abort(reason));
      return new Promise<never>(() => {});
    });
    const loop = world.loop([{ calls: [{ name: 'hang', args: {} }] }]);
    const run = loop.run({ sessionId: 's', prompt: 'Go', abortSignal: controller.signal });
    expect(causesOf(await eventsOf(run))).toEqual([cause]);
  });

  it('tells what was denied, and the model reads no code of its own for it', async () => {
    const denied = new EthosError('HOST_NOT_ALLOWED', 'x is not allowed');
    register('denied', () => Promise.reject(denied));
    const calls = [
      { name: 'denied', args: {} },
      { name: 'nosuch', args: {} },
    ];
    const model = scriptedModel([{ calls }, { text: 'ok' }]);
    const loop = world.loop(model);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
    expect(causesOf(events).sort()).toEqual(['HOST_NOT_ALLOWED', 'TOOL_NOT_FOUND']);
    expect(JSON.stringify(model.doStreamCalls.map(({ prompt }) => prompt))).not.toMatch(
      /TOOL_NOT_FOUND|"cause"/,
    );
  });

  it('tells of a call beyond a limit', async () => {
    const calls = ['a', 'b'].map((text) => ({ name: 'echo', args: { text } }));
    const loop = world.loop([{ calls }], { limits: { maxCalls: 1 } });
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
    expect(causesOf(events).sort()).toEqual(['TURN_LIMIT', undefined]);
  });
});
