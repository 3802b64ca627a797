import { join } from 'node:path';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { createCalls } from './calls.js';
import { checkAudit, checkBatch, checkWorld, Findings } from './checks.js';
import { createFaults, type Faults } from './faults.js';
import { startLocker } from './locker.js';
import { pause, Random } from './random.js';
import {
  descriptorLinks,
  type FlatnessRow,
  flatness,
  type Sample,
  socketTexts,
  takeSample,
} from './samples.js';
import { type Servers, startServers } from './servers.js';
import { createTools } from './tools.js';
import { createWorld, type World } from './world.js';

/** How long and how hard. */
export interface SoakOptions {
  minutes: number;
  seed: number;
  /** Milliseconds between the batches of each worker, on average. */
  paceMs: number;
  report(line: string): void;
}

/** The outcome of a soak. */
export interface SoakReport {
  batches: number;
  calls: number;
  events: number;
  restarts: number;
  rows: FlatnessRow[];
  findings: string[];
}

const WORKERS = 4;
const SESSIONS = 40;
const TURN_MS = 5_000;
/** No batch takes longer: an aborted one answers within a second. */
const HUNG_MS = 15_000;
/** Connections that nobody wants again are kept for four seconds. */
const RELEASE_MS = 10_000;
/**
 * What stays in use until the host ends: two descriptors, of the `/dev/null` that children get and of
 * the file that marks the processes of this host; and the socket to the supervisor of its processes.
 */
const KEPT: Readonly<Record<(typeof MEASURES)[number], number>> = {
  descriptors: 2,
  sockets: 1,
  timers: 0,
  processes: 0,
  'temporary files': 0,
};
const MEASURES = ['descriptors', 'sockets', 'timers', 'processes', 'temporary files'] as const;
/** Milliseconds to end everything that a call started. */
const SETTLE_MS = 1_200;

/** Runs batches until the time is up, and measures in quiet moments between. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const world = createWorld(SESSIONS);
  const servers = await startServers();
  try {
    return await new Soak(options, world, servers).run();
  } finally {
    await servers.close();
    world.remove();
  }
}

class Soak {
  readonly #options: SoakOptions;
  readonly #world: World;
  readonly #servers: Servers;
  readonly #random: Random;
  readonly #findings = new Findings();
  readonly #samples: Sample[] = [];
  readonly #counts = { batches: 0, calls: 0, restarts: 0 };
  #faults: Faults | undefined;
  #runtime: ToolRuntime | undefined;

  constructor(options: SoakOptions, world: World, servers: Servers) {
    this.#options = options;
    this.#world = world;
    this.#servers = servers;
    this.#random = new Random(options.seed);
  }

  async run(): Promise<SoakReport> {
    const stopCollecting = this.#collectStrays();
    try {
      const before = takeSample(this.#world);
      const opened = descriptorLinks();
      await this.#open();
      const locker = startLocker(join(this.#world.home, 'state.sqlite'), this.#options.seed);
      try {
        await this.#rounds();
      } finally {
        await this.#close();
        await locker.stop();
      }
      await this.#expectAllReleased(before, opened);
      const events = await checkAudit(this.#findings, this.#world);
      const rows = flatness(this.#samples, this.#findings);
      return { ...this.#counts, events, rows, findings: this.#findings.lines() };
    } finally {
      stopCollecting();
    }
  }

  async #rounds(): Promise<void> {
    const { minutes, report } = this.#options;
    const end = performance.now() + minutes * 60_000;
    // Twenty rounds or more, of three to ten seconds.
    const roundMs = Math.max(3_000, Math.min(10_000, (minutes * 60_000) / 20));
    let nextReport = performance.now() + 60_000;
    while (performance.now() < end) {
      await this.#round(roundMs - SETTLE_MS);
      if (performance.now() < nextReport) continue;
      report(this.#line());
      nextReport += 60_000;
    }
  }

  /** Once everything is closed, what it had in use must be as before: exactly, and soon. */
  async #expectAllReleased(before: Sample, opened: readonly string[]): Promise<void> {
    const end = performance.now() + RELEASE_MS;
    let left: string[];
    do {
      await pause(SETTLE_MS);
      const now = takeSample(this.#world);
      left = MEASURES.filter((measure) => now[measure] > before[measure] + KEPT[measure]).map(
        (measure) => `${measure} ${before[measure]} → ${now[measure]}`,
      );
    } while (left.length > 0 && performance.now() < end);
    const kinds = `${kindsOf(opened)} → ${kindsOf(descriptorLinks())}`;
    const sockets = `the server's port ${this.#servers.port}; ${socketTexts().join('; ')}`;
    for (const each of left) {
      this.#findings.add('in use after the runtime was closed', `${each}; ${kinds}; ${sockets}`);
    }
  }

  /** Batches for a while, at times a new runtime, then a quiet moment and a sample. */
  async #round(ms: number): Promise<void> {
    const end = performance.now() + ms;
    const workers = Array.from({ length: WORKERS }, () => this.#work(end));
    if (this.#random.oneIn(3)) {
      await pause(this.#random.between(0, ms / 2));
      await this.#close();
      await this.#open();
      this.#counts.restarts += 1;
    }
    await Promise.all(workers);
    await pause(SETTLE_MS);
    checkWorld(this.#findings, this.#world, this.#servers);
    this.#samples.push(takeSample(this.#world));
  }

  async #work(end: number): Promise<void> {
    while (performance.now() < end) {
      await this.#batch();
      await pause(this.#random.between(0, 2 * this.#options.paceMs));
    }
  }

  async #batch(): Promise<void> {
    const { id: sessionId, canary } = this.#random.pick(this.#world.sessions);
    const calls = createCalls(this.#random, {
      world: this.#world,
      servers: this.#servers,
      canary,
    });
    let said = '';
    // A person who is asked for approval may never answer; then the turn ends some time.
    const controller = new AbortController();
    const patienceMs = this.#random.oneIn(6) ? this.#random.between(0, 300) : TURN_MS;
    const turn = setTimeout(() => controller.abort(), patienceMs);
    let giveUp: NodeJS.Timeout | undefined;
    const hung = new Promise<undefined>((resolve) => {
      giveUp = setTimeout(() => resolve(undefined), HUNG_MS);
    });
    try {
      const running = this.#runtime?.execute(calls, {
        sessionId,
        personality: this.#random.pick(this.#world.personalities),
        abortSignal: controller.signal,
        emit: ({ message }) => {
          said += `${message}\n`;
        },
      });
      const results = await Promise.race([running, hung]);
      if (results === undefined) this.#findings.add('a batch that hung', JSON.stringify(calls));
      else checkBatch(this.#findings, this.#world, { own: canary, calls, results, said });
    } catch (error) {
      this.#findings.add('a batch that threw', String(error));
    } finally {
      clearTimeout(turn);
      clearTimeout(giveUp);
    }
    this.#counts.batches += 1;
    this.#counts.calls += calls.length;
  }

  async #open(): Promise<void> {
    const { home, work, marker } = this.#world;
    this.#faults = createFaults(this.#random, this.#world);
    this.#runtime = await createToolRuntime({
      home,
      cwd: work,
      personality: 'open',
      tools: createTools(this.#world),
      env: { PATH: process.env.PATH, SOAK: marker },
      passEnv: ['SOAK'],
      limits: { maxConcurrency: 6 },
      ...this.#faults.options,
    });
  }

  /** Closes the runtime under its batches, which then answer that it is closed. */
  async #close(): Promise<void> {
    await this.#runtime?.close();
    this.#faults?.close();
  }

  /** An uncaught error is a finding, too. */
  #collectStrays(): () => void {
    const stray = (error: unknown) =>
      this.#findings.add(
        'an error that nobody caught',
        error instanceof Error ? error.stack : String(error),
      );
    const warn = (warning: Error) => this.#findings.add('a warning', String(warning));
    process.on('unhandledRejection', stray);
    process.on('uncaughtException', stray);
    process.on('warning', warn);
    return () => {
      process.off('unhandledRejection', stray);
      process.off('uncaughtException', stray);
      process.off('warning', warn);
    };
  }

  #line(): string {
    const { batches, calls, restarts } = this.#counts;
    const last = this.#samples.at(-1);
    const use = Object.entries(last ?? {}).map(([name, value]) => `${name} ${round(value)}`);
    return [`${batches} batches, ${calls} calls, ${restarts} restarts`, ...use].join(', ');
  }
}

export function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

/** How many descriptors of each kind there are. */
function kindsOf(links: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const link of links) {
    const kind = link.replace(/:\[\d+\]$/, '');
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}
