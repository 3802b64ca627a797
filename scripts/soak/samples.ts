import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Findings } from './checks.js';
import type { World } from './world.js';

/** What is in use in a moment in which nothing runs. Sizes are MiB. */
export interface Sample {
  heap: number;
  rss: number;
  /** Without sockets. */
  descriptors: number;
  sockets: number;
  timers: number;
  processes: number;
  'temporary files': number;
}

/** How far the end may lie above the beginning: by a share of it, and by an amount. */
const TOLERANCES: Record<keyof Sample, { share: number; amount: number }> = {
  heap: { share: 0.1, amount: 3 },
  rss: { share: 0.15, amount: 16 },
  descriptors: { share: 0, amount: 2 },
  // Connections are kept for some seconds in case that they are wanted again.
  sockets: { share: 0, amount: 12 },
  timers: { share: 0, amount: 2 },
  processes: { share: 0, amount: 0 },
  'temporary files': { share: 0, amount: 0 },
};

/** Measures. Needs `--expose-gc`. */
export function takeSample(world: World): Sample {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('run with node --expose-gc');
  collect();
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  const links = descriptorLinks();
  const sockets = links.filter((link) => link.startsWith('socket:')).length;
  return {
    heap: heapUsed / 2 ** 20,
    rss: rss / 2 ** 20,
    descriptors: links.length - sockets,
    sockets,
    timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
    processes: markedProcesses(world.marker).length,
    'temporary files': readdirSync(world.base, { recursive: true }).filter((name) =>
      /\.tmp$|\.new$/.test(String(name)),
    ).length,
  };
}

/** Ids of the processes that carry the marker in their environment; this one doesn't. */
function markedProcesses(marker: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const [, state] = /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
        return state !== 'Z' && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker);
      } catch {
        return false;
      }
    });
}

/** A row for each measure: the medians of the second fifth and of the last, and whether it is flat. */
export interface FlatnessRow {
  measure: keyof Sample;
  early: number;
  late: number;
  limit: number;
  isFlat: boolean;
}

export function flatness(samples: readonly Sample[], findings: Findings): FlatnessRow[] {
  const fifth = Math.floor(samples.length / 5);
  if (fifth === 0) throw new RangeError('five samples are needed to tell whether they are flat');
  const second = samples.slice(fifth, 2 * fifth);
  const last = samples.slice(-fifth);
  return Object.entries(TOLERANCES).map(([name, { share, amount }]) => {
    const measure = name as keyof Sample;
    const early = median(second.map((sample) => sample[measure]));
    const late = median(last.map((sample) => sample[measure]));
    const limit = early * (1 + share) + amount;
    const isFlat = late <= limit;
    if (!isFlat) findings.add(`${measure} is not flat`, `${early} → ${late}`);
    return { measure, early, late, limit, isFlat };
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** What each socket of this process is: its family, its two ends, and the state of a connection. */
export function socketTexts(): string[] {
  const known = new Map<string, string>();
  for (const row of rowsOf('tcp').concat(rowsOf('tcp6'))) {
    const [, local, remote, state, , , , , , inode = ''] = row;
    known.set(inode, `tcp ${portOf(local)} → ${portOf(remote)} in state ${state}`);
  }
  for (const row of rowsOf('unix')) {
    const [, , , , , state, inode = '', path = 'no name'] = row;
    known.set(inode, `unix ${path} in state ${state}`);
  }
  return descriptorLinks().flatMap((link) => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(link) ?? [];
    return inode === undefined ? [] : [known.get(inode) ?? `of no known kind, ${inode}`];
  });
}

function rowsOf(table: string): string[][] {
  const [, ...lines] = readFileSync(`/proc/self/net/${table}`, 'latin1').trim().split('\n');
  return lines.map((line) => line.trim().split(/\s+/));
}

/** The port of an address that the kernel writes as `0100007F:1F90`. */
function portOf(address = ''): string {
  return String(Number.parseInt(address.split(':')[1] ?? '', 16));
}

/** What this process has open. */
export function descriptorLinks(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(join('/proc/self/fd', descriptor))];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}
