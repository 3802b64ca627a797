import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tries } from '@ethosagent/test-support/tries';
import { endless, gzipBomb } from '../answers.js';
import type { Probe } from '../probe.js';
import { hasFiles, hasNetwork, hasProcesses, type Scenario } from '../scenario.js';
import { filesBelow } from '../world-files.js';

/** Milliseconds after which a flood that does not end by itself is ended. More in a long run. */
const TIMEOUT_MS = tries({ check: 1_000, long: 5_000 });
const HONEST_CALLS = 50;
// More than anybody may keep, and little enough that a tool which keeps it does not bring the
// machine down.
const GIANT_FILE_BYTES = 700 * 1024 ** 2;
const DEFAULT_GROWTH_MB = 400;
const SAMPLE_MS = 10;

/** The scenario in which answers, output and files have more data than a tool may keep. */
export const floods: Scenario = {
  name: 'floods',
  applies: (probe) => hasNetwork(probe) || hasProcesses(probe) || hasFiles(probe),
  async run(probe) {
    const { world } = probe;
    const { files, server } = world;
    if (hasNetwork(probe)) {
      for (const answer of [endless, gzipBomb]) {
        server.answer = answer;
        await flood(probe, 'an answer without end');
      }
      server.answer = world.honestAnswer;
    }
    if (hasProcesses(probe)) {
      world.putBinaries("while :; do printf '%065536d' 0; done");
      await flood(probe, 'output without end');
      world.putHonestBinaries();
    }
    if (hasFiles(probe)) {
      for (const name of filesBelow(files.reach)) {
        truncateSync(join(files.reach, name), GIANT_FILE_BYTES);
      }
      await flood(probe, 'files of 700 MiB');
    }
  },
};

async function flood(probe: Probe, what: string): Promise<void> {
  const calls = probe.world.calls.slice(0, tries({ check: 1, long: 10 }));
  const allowed = probe.options.maxGrowthMb ?? DEFAULT_GROWTH_MB;
  const memory = watchMemory();
  // One call at a time: what one call may keep, several may keep several times.
  const timeoutMs = Math.max(TIMEOUT_MS, probe.honestMs * HONEST_CALLS);
  for (const args of calls) await probe.run([args], { timeoutMs });
  const grownMb = memory.grownMb();
  if (grownMb > allowed) {
    probe.reach('batches', `let the memory grow by ${grownMb} MiB under ${what}`);
  }
  probe.try('batches', calls.length);
}

/** Measures the largest growth of this process's memory. */
function watchMemory(): { grownMb(): number } {
  forgetPeak();
  const before = process.memoryUsage.rss();
  const peakBefore = peakBytes();
  let highest = before;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, SAMPLE_MS);
  return {
    grownMb() {
      clearInterval(timer);
      // While a tool blocks the thread, no sample is taken. Then only a new peak shows the growth.
      if (peakBytes() > peakBefore) highest = Math.max(highest, peakBytes());
      return Math.round((highest - before) / 1024 ** 2);
    },
  };
}

/**
 * Has this process begin a new peak, where the system is Linux. Elsewhere a growth while a tool blocks
 * the thread is seen only if it goes beyond the highest peak so far.
 */
function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {}
}

function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}
