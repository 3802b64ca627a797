import type { Scenario } from '../scenario.js';
import { settles } from '../settles.js';

/** The scenario in which the turn is aborted at any moment. */
export const aborts: Scenario = {
  name: 'aborts',
  applies: () => true,
  async run(probe) {
    const { world, random, rounds } = probe;
    const latestMs = Math.ceil(probe.honestMs * 1.5);
    const before = timers();
    for (let round = 0; round < rounds; round += 1) {
      await probe.run(world.calls, { abortAfterMs: random.between(0, latestMs) });
      await probe.settle();
      probe.try('processes', world.calls.length);
      if (probe.hasReached) return;
    }
    // Other code in this process also has timers, so a few more are no finding.
    const few = Math.max(3, rounds / 2);
    if (!(await settles(() => timers() <= before + few))) {
      probe.reach('batches', 'left timers running a second after its calls had ended');
    }
  },
};

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}
