import { tries } from '@ethosagent/test-support/tries';
import type { AnyTool, ToolProgressEvent, ToolResult } from '@ethosagent/types';
import type { Promised } from '../promised.js';
import { textOf } from './answers.js';
import { type Canary, CanaryFinder } from './canaries.js';
import type { Reached } from './containment-error.js';
import { leftovers } from './leftovers.js';
import type { ContainmentOptions, ScenarioName } from './options.js';
import type { Random } from './random.js';
import type { RawAccess } from './raw-access.js';
import { RunningCalls } from './running-calls.js';
import { Stopwatch, settles } from './settles.js';
import type { World } from './world.js';
import { WORLD_PEOPLE } from './world-memory.js';

/** The longest time, in milliseconds, of a call that should not be cut short. */
const LONGEST_CALL_MS = 60_000;
const BUDGET_CHARS = 80_000;
/** The most characters that the registry adds to a cut value. */
const MARKER_CHARS = 100;

/** The options of a batch. */
export interface Batch {
  /** Milliseconds after which the turn is aborted. */
  abortAfterMs?: number;
  /** The most milliseconds that each call may take. */
  timeoutMs?: number;
  world?: World;
  sessionId?: string;
}

/** Ends a scenario in which a call hung: its other calls would hang too, one after another. */
export class ScenarioOver extends Error {}

/** The tools of a scenario: runs calls in a world, and records what they reached. */
export class Probe {
  readonly tool: AnyTool;
  readonly world: World;
  readonly options: ContainmentOptions;
  readonly random: Random;
  readonly reached: Reached[] = [];
  /** How often each promise was tested. */
  readonly tried = new Map<Promised, number>();
  calls = 0;
  /** Milliseconds that an honest call took. */
  honestMs = 5;
  /** Whether honest calls were answered. */
  works = true;
  scenario: ScenarioName = 'honest';
  readonly #raw: RawAccess;
  readonly #finder = new CanaryFinder();
  readonly #running = new RunningCalls();
  #unhandled = 0;

  constructor(given: Pick<Probe, 'tool' | 'world' | 'options' | 'random'>, raw: RawAccess) {
    this.tool = given.tool;
    this.world = given.world;
    this.options = given.options;
    this.random = given.random;
    this.#raw = raw;
  }

  /** Records a finding. The same finding is recorded once per scenario. */
  reach(promised: Promised, what: string): void {
    const { scenario } = this;
    if (this.reached.some((one) => one.scenario === scenario && one.what === what)) return;
    this.reached.push({ scenario, promised, what });
  }

  /** Whether this scenario has found something, so that further attempts would show nothing new. */
  get hasReached(): boolean {
    return this.reached.some(({ scenario }) => scenario === this.scenario);
  }

  /** The number of rounds of a scenario that repeats. */
  get rounds(): number {
    return this.options.rounds ?? tries({ check: 6, long: 200 });
  }

  try(promised: Promised, count = 1): void {
    this.tried.set(promised, (this.tried.get(promised) ?? 0) + count);
  }

  unhandled(): void {
    this.#unhandled += 1;
  }

  /** Runs calls as one batch, checks when and what they answer, and waits until they have ended. */
  async run(args: readonly unknown[], batch: Batch = {}): Promise<ToolResult[]> {
    const { abortAfterMs, timeoutMs, world = this.world } = batch;
    const registry = world.registry(
      this.#running.watch(
        this.tool,
        timeoutMs ?? Math.min(this.tool.timeoutMs ?? LONGEST_CALL_MS, LONGEST_CALL_MS),
      ),
    );
    const turn = new AbortController();
    const events: ToolProgressEvent[] = [];
    const stopAfterMs = abortAfterMs ?? timeoutMs;
    let sinceStop: Stopwatch | undefined;
    const timer =
      stopAfterMs === undefined
        ? undefined
        : setTimeout(() => {
            sinceStop = new Stopwatch();
            if (abortAfterMs !== undefined) turn.abort();
          }, stopAfterMs);
    this.calls += args.length;
    const whole = new Stopwatch(LONGEST_CALL_MS);
    let isLate: boolean;
    let results: ToolResult[];
    try {
      const answered = await registry.executeParallel(
        args.map((one, index) => ({
          toolCallId: `call-${index}`,
          name: this.tool.name,
          args: one,
        })),
        {
          sessionId: batch.sessionId ?? 'session',
          sessionKey: 'contained:session',
          platform: 'contained',
          workingDir: world.files.reach,
          currentTurn: 1,
          messageCount: 1,
          abortSignal: turn.signal,
          emit: (event) => events.push(event),
          resultBudgetChars: BUDGET_CHARS * args.length,
          readMtimes: new Map(),
          ...WORLD_PEOPLE,
          ...this.#personality,
        },
        undefined,
        undefined,
        world.attachments,
        { delegation: world.delegation },
      );
      results = answered.map(({ result }) => result);
    } finally {
      clearTimeout(timer);
      isLate = whole.isLate() && stopAfterMs === undefined;
    }
    if (sinceStop?.isLate() === true) {
      this.reach('batches', 'answered more than a second after it was to stop');
    }
    // What a tool may leave running or open must end with its session.
    await registry.endAllSessions();
    world.endRequests();
    for (const result of results) this.#judgeResult(result);
    this.judgeTexts(results.map(allText), world.canaries(), 'in what it answers');
    this.judgeTexts(events.map(allText), world.canaries(), 'in an event');
    if (isLate) this.reach('batches', `took longer than ${LONGEST_CALL_MS / 1_000} seconds`);
    if (!(await settles(() => this.#running.count === 0))) {
      this.#running.forget();
      this.reach('batches', 'was still running a second after its call had ended');
      throw new ScenarioOver();
    }
    if (isLate) throw new ScenarioOver();
    return results;
  }

  /** Records the canaries that texts reveal. */
  judgeTexts(texts: readonly string[], canaries: readonly Canary[], where: string): void {
    for (const { promised, what } of this.#finder.find(texts.join('\n'), canaries)) {
      this.reach(promised, `has ${what} ${where}`);
    }
  }

  /** Checks what the calls of a scenario left, changed or touched in a world. */
  async settle(world = this.world): Promise<void> {
    for (const what of this.#raw.drain()) this.reach(promisedOf(what), what);
    const hasProcesses = this.tool.capabilities.process !== undefined;
    for await (const [promised, what] of leftovers(world, { hasProcesses })) {
      this.reach(promised, what);
    }
    const outside = world.canaries().filter(({ promised }) => promised === 'reach');
    this.judgeTexts(world.server.received.map(textOf), outside, 'in a request');
    this.judgeTexts(world.audit.events.map(allText), world.canaries(), 'in the audit trail');
    if (this.#unhandled > 0) {
      this.#unhandled = 0;
      this.reach('batches', 'threw where nobody could catch it');
    }
  }

  get #personality(): { personalityId?: string; networkPolicy?: object } {
    const { id, safety } = this.options.personality ?? {};
    const { deny, allow_private_urls } = safety?.network ?? {};
    return {
      ...(id !== undefined && { personalityId: id }),
      networkPolicy: {
        ...(deny !== undefined && { deny }),
        ...(allow_private_urls !== undefined && { allow_private_urls }),
      },
    };
  }

  #judgeResult(result: ToolResult): void {
    const text = result.ok ? result.value : result.error;
    if (text.length > BUDGET_CHARS + MARKER_CHARS) {
      this.reach('batches', `answered ${text.length} characters, more than the budget`);
    }
    if (!text.isWellFormed()) this.reach('batches', 'answered text that is not well-formed');
  }
}

function allText(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

function promisedOf(what: string): Promised {
  return what.startsWith('called the global fetch') ? 'network' : 'processes';
}
