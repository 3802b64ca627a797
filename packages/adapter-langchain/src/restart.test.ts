import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, INTERRUPT, MemorySaver } from '@langchain/langgraph';
import { inCheck } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS, type Step, scriptedModel } from './fixtures/agents.js';
import { openWorld, type World } from './fixtures/world.js';
import { isToolInterrupt, type ToolAnswer } from './tool-interrupt.js';

// A graph that continues in another process, which knows only what is stored.

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const GO = { messages: [new HumanMessage('Go.')] };
const config = { configurable: { thread_id: 't' } };

/** A copy of the present checkpoints. */
function copyOf({ storage, writes }: MemorySaver): MemorySaver {
  return Object.assign(new MemorySaver(), structuredClone({ storage, writes }));
}

describe.each(inCheck(Object.entries(AGENTS), ([kind]) => kind === 'createAgent'))('%s', (_, makeAgent) => {
  async function openProcess(session: ReturnType<World['begin']>['session'], steps: Step[]) {
    await world.restart();
    vi.resetModules();
    const { toLangchainTools, answerInterrupts } = await import('./index.js');
    const tools = await toLangchainTools(session());
    const make = (checkpointer: MemorySaver) =>
      makeAgent({ model: scriptedModel(...steps), tools, checkpointer });
    return { make, answerInterrupts };
  }

  const STEP: Step = [
    ['count', { of: 'free' }, '1'],
    ['asked_count', { of: 'first' }, '2'],
    ['asked_count', { of: 'second' }, '3'],
  ];

  it('runs each call once, with a process for each answer', async () => {
    const { session, counts } = world.begin();
    const checkpointer = new MemorySaver();
    const { make } = await openProcess(session, [STEP]);
    let state = await make(checkpointer).invoke(GO, config);
    let rounds = 0;
    while ((state[INTERRUPT] ?? []).length > 0) {
      expect(++rounds).toBeLessThan(4);
      const { make, answerInterrupts } = await openProcess(session, ['Done.']);
      const resume = await answerInterrupts(state, () => ({ approved: true }));
      const [first = ''] = Object.keys(resume);
      const one = { [first]: resume[first] };
      state = await make(checkpointer).invoke(new Command({ resume: one }), config);
    }
    expect(state.messages.at(-1)?.text).toBe('Done.');
    expect(state.messages.filter((each) => ToolMessage.isInstance(each))).toHaveLength(3);
    expect([rounds, counts()]).toEqual([2, { free: 1, first: 1, second: 1 }]);
  });

  it('uses up a yes, however often its run is delivered again', async () => {
    const { session, counts } = world.begin();
    const asked = new MemorySaver();
    const { make } = await openProcess(session, [[['asked_count', { of: 'a' }]]]);
    const state = await make(asked).invoke(GO, config);
    const [{ id = '', value } = {}] = state[INTERRUPT] ?? [];
    if (!isToolInterrupt(value)) throw new Error('nothing was asked');
    const answer: ToolAnswer = { question: value.question, approved: true };
    const questions: unknown[] = [];
    for (let delivery = 1; delivery <= 3; delivery++) {
      const { make } = await openProcess(session, ['Done.']);
      const resumed = await make(copyOf(asked)).invoke(
        new Command({ resume: { [id]: answer } }),
        config,
      );
      const [again] = resumed[INTERRUPT] ?? [];
      questions.push(isToolInterrupt(again?.value) && again.value.question !== value.question);
    }
    // The later processes can't know the result. For them it is another call, which asks again.
    expect([counts(), questions]).toEqual([{ a: 1 }, [false, true, true]]);
  });
});
