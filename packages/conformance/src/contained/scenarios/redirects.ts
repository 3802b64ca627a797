import { redirectTo } from '../answers.js';
import { hasNetwork, type Scenario } from '../scenario.js';
import type { World } from '../world.js';

const STATUSES = [301, 302, 303, 307, 308];

/** The scenario in which every host redirects to one outside the policy, at once or after hops. */
export const redirects: Scenario = {
  name: 'redirects',
  applies: hasNetwork,
  async run(probe) {
    const { world } = probe;
    for (const status of STATUSES) {
      for (const location of [...locations(world), ...MALFORMED]) {
        for (const hops of status === 302 ? [0, 2] : [0]) {
          world.server.answer = redirectTo(status, location, hops);
          await probe.run(world.calls);
          probe.try('network', world.calls.length);
        }
      }
    }
    // Longer than anybody should follow.
    world.server.answer = redirectTo(302, `${world.canary.origin}/canary`, 50);
    await probe.run(world.calls);
    probe.try('network', world.calls.length);
  },
};

function locations({ canary, files, server }: World): string[] {
  const { port, origin } = canary;
  return [
    `${origin}/canary`,
    `http://localhost:${port}/canary`,
    `http://[::ffff:127.0.0.1]:${port}/canary`,
    `http://2130706433:${port}/canary`,
    `http://127.0.0.1:${server.port}@127.0.0.1:${port}/canary`,
    'https://elsewhere.contained.example/canary',
    `file://${files.outside}/notes.txt`,
  ];
}

const MALFORMED = ['http://[::1', 'http://a b/', 'http://', ':', `/${'x'.repeat(8_000)}`];
