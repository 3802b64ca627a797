import { echo } from '../answers.js';
import type { Scenario } from '../scenario.js';

const ENCODINGS: Array<(text: string) => string> = [
  (text) => text,
  encodeURIComponent,
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('hex'),
];

/** The scenario in which the receiver of a secret sends it back, unchanged and encoded. */
export const secrets: Scenario = {
  name: 'secrets',
  applies: ({ tool }) => tool.capabilities.secrets !== undefined,
  async run(probe) {
    const { world } = probe;
    await probe.run(world.calls);
    probe.try('secrets', world.calls.length);
    for (const status of [200, 400, 500]) {
      for (const encode of ENCODINGS) {
        world.server.answer = echo(status, encode);
        await probe.run(world.calls);
        probe.try('secrets', world.calls.length);
      }
    }
  },
};
