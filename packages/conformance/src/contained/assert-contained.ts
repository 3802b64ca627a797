import { ScopedProcessImpl } from '@ethosagent/core/scoped';
import { type AnyTool, CAPABILITIES, type CapabilityName, EthosError } from '@ethosagent/types';
import type { Promised } from '../promised.js';
import { ContainmentError } from './containment-error.js';
import { type ContainmentOptions, SCENARIO_NAMES, type ScenarioName } from './options.js';
import { Probe, ScenarioOver } from './probe.js';
import { Random, randomSeed } from './random.js';
import { watchRawAccess } from './raw-access.js';
import type { Scenario } from './scenario.js';
import { aborts } from './scenarios/aborts.js';
import { floods } from './scenarios/floods.js';
import { hangingPeers } from './scenarios/hanging-peers.js';
import { honest } from './scenarios/honest.js';
import { hostileArguments } from './scenarios/hostile-arguments.js';
import { hostileContent } from './scenarios/hostile-content.js';
import { redirects } from './scenarios/redirects.js';
import { secrets } from './scenarios/secrets.js';
import { sessions } from './scenarios/sessions.js';
import { symlinkSwaps } from './scenarios/symlink-swaps.js';
import { World } from './world.js';

/** The attempts of a run, and the capabilities that it did not test. */
export interface ContainmentReport {
  /** The seed of the run. Pass it as the option `seed` to repeat the run. */
  seed: number;
  /** The scenarios that were run. */
  scenarios: readonly ScenarioName[];
  calls: number;
  /** How often the run tried to break each promise. */
  tries: ReadonlyMap<Promised, number>;
  /** The declared capabilities that no honest call used. The run shows nothing about them. */
  unused: readonly CapabilityName[];
}

const UNHANDLED = ['unhandledRejection', 'uncaughtException'] as const;

const SCENARIOS: readonly Scenario[] = [
  honest,
  hostileArguments,
  hostileContent,
  redirects,
  hangingPeers,
  floods,
  symlinkSwaps,
  aborts,
  secrets,
  sessions,
];

/**
 * Runs a tool through the real registry, in a temporary world that becomes hostile: servers
 * redirect, hang and flood, files are replaced by links, content is hostile, and turns are aborted.
 * It needs no test runner. Runs wait for each other, because each one watches the whole process.
 *
 * @param tool the tool to run
 * @param options the arguments of its calls, and the content of its world
 * @returns the attempts of the run
 * @throws `NOT_CONTAINED`, as a `ContainmentError` that lists everything that the tool reached
 */
export function assertContained(
  tool: AnyTool,
  options: ContainmentOptions,
): Promise<ContainmentReport> {
  const report = lastRun.then(() => run(tool, options));
  lastRun = report.catch(() => {});
  return report;
}

let lastRun: Promise<unknown> = Promise.resolve();

async function run(tool: AnyTool, options: ContainmentOptions): Promise<ContainmentReport> {
  const world = new World(tool, options, globalThis.fetch);
  try {
    await world.start();
    return await attack(tool, options, world);
  } finally {
    world.close();
  }
}

/**
 * Starts the framework's own process before the scenarios, so that it does not count as the tool's.
 */
async function startSupervisor(): Promise<void> {
  const node = process.execPath;
  await new ScopedProcessImpl(new Set([node])).prepare(node, []);
}

async function attack(
  tool: AnyTool,
  options: ContainmentOptions,
  world: World,
): Promise<ContainmentReport> {
  const seed = options.seed ?? randomSeed();
  if (tool.capabilities.process !== undefined) await startSupervisor();
  const raw = watchRawAccess(world.rawFetch(), world.pass);
  const probe = new Probe({ tool, world, options, random: new Random(seed) }, raw);
  const onUnhandled = () => probe.unhandled();
  for (const event of UNHANDLED) process.on(event, onUnhandled);
  const scenarios: ScenarioName[] = [];
  let unused: CapabilityName[] = [];
  try {
    for (const scenario of SCENARIOS) {
      const { name } = scenario;
      const isWanted = options.scenarios?.includes(name) ?? true;
      if (scenario !== honest && !(isWanted && scenario.applies(probe))) continue;
      probe.scenario = name;
      world.lay();
      await scenario.run(probe).catch(unlessOver);
      await probe.settle();
      scenarios.push(name);
      if (scenario === honest) unused = unusedCapabilities(tool, world);
      // A tool that does not work would not reach the code that the other scenarios attack.
      if (!probe.works) break;
    }
  } finally {
    for (const event of UNHANDLED) process.off(event, onUnhandled);
    raw.restore();
  }
  if (probe.reached.length > 0) throw new ContainmentError(tool.name, probe.reached, seed);
  const notRun = options.scenarios?.filter((name) => !scenarios.includes(name)) ?? [];
  if (notRun.length > 0) {
    throw new EthosError(
      'CONFIG_INVALID',
      `scenarios: ${notRun.join(', ')}: not known, or for nothing that ${tool.name} declares; there are ${SCENARIO_NAMES.join(', ')}`,
    );
  }
  return { seed, scenarios, calls: probe.calls, tries: probe.tried, unused };
}

function unlessOver(error: unknown): void {
  if (!(error instanceof ScenarioOver)) throw error;
}

function unusedCapabilities({ capabilities }: AnyTool, { audit }: World): CapabilityName[] {
  const used = new Set<string>(audit.events.map(({ capability }) => capability));
  return Object.values(CAPABILITIES)
    .flatMap(({ names }): readonly CapabilityName[] => names)
    .filter((name) => isDeclared(capabilities, name) && !used.has(name));
}

function isDeclared(capabilities: AnyTool['capabilities'], name: CapabilityName): boolean {
  const [key = '', part] = name.split('.');
  const declared = Object(capabilities)[key];
  return part === undefined ? declared !== undefined : declared?.[part] !== undefined;
}
