import { textOf } from '../answers.js';
import type { Scenario } from '../scenario.js';
import type { World } from '../world.js';

/** The scenario in which two sessions, each in its own world, call the tool at the same time. */
export const sessions: Scenario = {
  name: 'sessions',
  applies: () => true,
  async run(probe) {
    const { world: first, rounds } = probe;
    const second = await first.sibling();
    const run = async (world: World, sessionId: string) => {
      const results = await probe.run(world.calls, { world, sessionId });
      return [...results.map((one) => JSON.stringify(one)), ...world.server.received.map(textOf)];
    };
    try {
      for (let round = 0; round < rounds; round += 1) {
        const [here, there] = await Promise.all([run(first, 'first'), run(second, 'second')]);
        probe.judgeTexts(here, second.belongings(), 'of another session');
        probe.judgeTexts(there, first.belongings(), 'of another session');
        probe.try('batches', first.calls.length + second.calls.length);
      }
      await probe.settle(second);
    } finally {
      second.close();
    }
  },
};
