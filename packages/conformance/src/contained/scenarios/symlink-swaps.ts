import { tries } from '@ethosagent/test-support/tries';
import { hasFiles, type Scenario } from '../scenario.js';
import { pause } from '../settles.js';
import { Swapper } from '../swapper.js';
import { filesBelow, foldersBelow } from '../world-files.js';

/** The scenario in which files and folders in the reach are replaced by links to the outside. */
export const symlinkSwaps: Scenario = {
  name: 'symlink swaps',
  applies: hasFiles,
  async run(probe) {
    const { world, random } = probe;
    const { reach, outside, aside } = world.files;
    const wanted = tries({ check: 60, long: 20_000 });
    const swapper = new Swapper({
      reach,
      outside,
      aside,
      files: filesBelow(reach),
      folders: foldersBelow(reach),
      seed: random.between(1, 2 ** 31 - 1),
    });
    try {
      for (let round = 0; !probe.hasReached; round += 1) {
        if (round >= probe.rounds && (swapper.swaps >= wanted || !swapper.isRunning)) break;
        await probe.run(world.calls);
        await pause(1);
      }
    } finally {
      await swapper.stop();
    }
    probe.try('reach', swapper.swaps);
  },
};
