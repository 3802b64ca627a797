import type { Scenario } from '../scenario.js';

/**
 * The scenario in which everything answers correctly. A tool that does not work here would pass all
 * other scenarios.
 */
export const honest: Scenario = {
  name: 'honest',
  applies: () => true,
  async run(probe) {
    const { calls, files } = probe.world;
    for (const args of calls) {
      const begun = performance.now();
      const [result] = await probe.run([args]);
      probe.honestMs = Math.max(probe.honestMs, performance.now() - begun);
      if (result?.ok !== true) {
        probe.works = false;
        const why = result?.error.slice(0, 300) ?? 'no answer';
        probe.reach('batches', `did not work with the arguments given: ${why}`);
      }
    }
    await probe.run(calls);
    for (const name of files.temporaryFiles()) {
      probe.reach('files', `left the temporary file ${name} behind`);
    }
    probe.try('batches', calls.length * 2);
  },
};
