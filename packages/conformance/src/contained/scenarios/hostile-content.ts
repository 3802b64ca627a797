import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOSTILE_BYTES, HOSTILE_TEXTS } from '../hostile-text.js';
import { hasFiles, hasMemory, hasNetwork, hasProcesses, type Scenario } from '../scenario.js';
import { filesBelow } from '../world-files.js';

/** The scenario in which everything that the tool reads comes from an attacker. */
export const hostileContent: Scenario = {
  name: 'hostile content',
  applies: (probe) =>
    hasNetwork(probe) || hasFiles(probe) || hasProcesses(probe) || hasMemory(probe),
  async run(probe) {
    const { world } = probe;
    const output = join(world.files.base, 'hostile-output');
    world.putBinaries(`cat '${output}'; cat '${output}' >&2`);
    try {
      for (const content of [HOSTILE_BYTES, ...HOSTILE_TEXTS.map((text) => Buffer.from(text))]) {
        world.server.answer = (_, response) => void response.end(content);
        writeFileSync(output, content);
        for (const name of filesBelow(world.files.reach)) {
          writeFileSync(join(world.files.reach, name), content);
        }
        const text = content.toString('utf8');
        world.memory.lay({ memory: { Notes: text, Plans: text }, messages: [text] });
        await probe.run(world.calls);
        probe.try('batches', world.calls.length);
      }
    } finally {
      // Nothing else of this process may see it, also where it made the tool or its host fail.
      if ('polluted' in {}) {
        Reflect.deleteProperty(Object.prototype, 'polluted');
        probe.reach('batches', 'gave a property to every object');
      }
    }
  },
};
