import { headersOnly, silent, trickle } from '../answers.js';
import { hasNetwork, hasProcesses, type Scenario } from '../scenario.js';

const PROGRAMS = [
  'exec sleep 60',
  'trap "" TERM; while :; do sleep 1; done',
  'sleep 60 & sleep 60',
  'setsid sh -c "trap \'\' TERM; sleep 60" >/dev/null 2>&1 </dev/null & sleep 60',
];
const TIMEOUT_MS = 80;
const LATEST_ABORT_MS = 80;

/** The scenario in which servers and processes never answer, until an abort or the time limit. */
export const hangingPeers: Scenario = {
  name: 'hanging peers',
  applies: (probe) => hasNetwork(probe) || hasProcesses(probe),
  async run(probe) {
    const { world, random } = probe;
    const peers: Array<() => void> = [];
    if (hasNetwork(probe)) {
      for (const answer of [silent, headersOnly, trickle]) {
        peers.push(() => {
          world.server.answer = answer;
        });
      }
    }
    if (hasProcesses(probe)) {
      for (const program of PROGRAMS) peers.push(() => world.putBinaries(program));
    }
    for (const hang of peers) {
      hang();
      for (const how of [
        { abortAfterMs: random.between(0, LATEST_ABORT_MS) },
        { timeoutMs: TIMEOUT_MS },
      ]) {
        await probe.run(world.calls, how);
        await probe.settle();
        probe.try('processes', world.calls.length);
        probe.try('batches', world.calls.length);
        if (probe.hasReached) return;
      }
    }
  },
};
