import type { CapabilityBackends } from '@ethosagent/core';
import type { AnyTool, AuditEvent, ToolContext, ToolRegistry } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzz } from '../fuzz.js';
import { ACCESSES } from './audit/accesses.js';
import { type AuditWorld, createAuditWorld } from './audit/audit-world.js';
import { type Begun, differenceOf, isSameAccess } from './audit/match-log.js';

/** A registry, and the log of its accesses. */
export interface AuditedRegistry {
  registry: ToolRegistry;
  /** Returns the events that were recorded so far, in the order in which they are in the log. */
  events(): readonly AuditEvent[] | Promise<readonly AuditEvent[]>;
  /** Closes the log. */
  close?(): void | Promise<void>;
}

/**
 * Creates an empty registry with these backends, and with a key-value store and an audit sink of
 * its own.
 */
export type CreateAudited = (
  backends: CapabilityBackends,
) => AuditedRegistry | Promise<AuditedRegistry>;

/** One step of a tool: an access, awaited or not, or the abort of the turn. */
type Step = { name: string; isAwaited: boolean } | 'abort';

/** The steps of a tool in one call, and its attempts after the call has ended. */
interface Script {
  steps: Step[];
  ending: 'returns' | 'throws';
  late: string[];
}

/**
 * Registers tests that every access of every accessor is in the log exactly once, in order, with
 * its decision and the rule that decided. Call it in a test file.
 *
 * @param name the name of the audit log, for the names of the tests
 * @param create creates a registry whose accesses are recorded
 */
export function auditAttacks(name: string, create: CreateAudited): void {
  describe(`${name}, whose log is compared with what was done`, () => {
    let world: AuditWorld;
    let audited: AuditedRegistry;
    let calls = 0;
    let current: (ctx: ToolContext) => Promise<void> = async () => {};

    beforeAll(async () => {
      world = await createAuditWorld();
      audited = await create(world.backends);
      const tool: AnyTool = {
        name: 'agent',
        description: 'Does what it is told.',
        schema: { type: 'object' },
        capabilities: world.capabilities,
        async execute(_, ctx) {
          await current(ctx);
          return { ok: true, value: 'done' };
        },
      };
      audited.registry.register(tool);
    });
    afterAll(async () => {
      await audited.close?.();
      world.close();
    });

    /** Runs a script as one call. Returns how the log differs from it. */
    async function play({ steps, ending, late }: Script): Promise<string | undefined> {
      const id = String(++calls);
      const sessionId = `session-${id}`;
      const controller = new AbortController();
      const begun: Begun[] = [];
      const pending: Array<Promise<unknown> | undefined> = [];
      let kept: ToolContext | undefined;
      let isAborted = false;
      const begin = (
        access: string,
        ctx: ToolContext,
        rest: Pick<Begun, 'isAwaited' | 'isLate'>,
      ) => {
        const made = ACCESSES[access]?.(world, `${id}-${begun.length}`, sessionId);
        if (made === undefined) throw new Error(`no access ${access}`);
        const [first] = made.events;
        // An access without a target of its own occurs only once in a script.
        if (begun.some(({ events }) => isSameAccess(events[0], first))) return undefined;
        begun.push({ name: access, events: made.events, ...rest });
        const promise = made.run(ctx)?.catch(() => {});
        pending.push(promise);
        return promise;
      };
      let running: Promise<void> = Promise.resolve();
      const work = async (ctx: ToolContext) => {
        for (const step of steps) {
          if (step === 'abort') {
            controller.abort();
            // The registry notices the abort when the tool returns to the event loop.
            await new Promise((resolve) => setImmediate(resolve));
            isAborted = true;
          } else {
            const promise = begin(step.name, ctx, { ...step, isLate: isAborted });
            if (step.isAwaited) await promise;
          }
        }
        if (ending === 'throws') throw new Error('as planned');
      };
      current = (ctx) => {
        kept = ctx;
        running = work(ctx);
        return running;
      };
      const before = (await audited.events()).length;
      await audited.registry.executeParallel(
        [{ toolCallId: id, name: 'agent', args: {} }],
        {
          sessionId,
          sessionKey: sessionId,
          platform: 'test',
          workingDir: world.root,
          currentTurn: 1,
          messageCount: 1,
          abortSignal: controller.signal,
          emit: () => {},
        },
        undefined,
        undefined,
        world.attachments,
      );
      // An aborted call is answered while its tool still runs.
      await running.catch(() => {});
      for (const access of late) {
        if (kept !== undefined) await begin(access, kept, { isAwaited: true, isLate: true });
      }
      await Promise.all(pending);
      const log = (await audited.events()).slice(before);
      const foreign = log.find(
        (event) =>
          event.toolCallId !== id || event.sessionId !== sessionId || event.toolName !== 'agent',
      );
      return foreign === undefined
        ? differenceOf(begun, log)
        : `of another call: ${JSON.stringify(foreign)}`;
    }

    const names = Object.keys(ACCESSES);
    it.each(names)('has %s once', async (access) => {
      const steps = [{ name: access, isAwaited: true }];
      expect(await play({ steps, ending: 'returns', late: [] })).toBeUndefined();
    });

    it.each(names)('has %s after the end of its call once, denied', async (access) => {
      expect(await play({ steps: [], ending: 'returns', late: [access] })).toBeUndefined();
    });

    const access = fc.constantFrom(...names);
    fuzz(
      'has every access once, in order, with its decision and its rule',
      fc.record({
        steps: fc.array(
          fc.oneof(
            { weight: 20, arbitrary: fc.record({ name: access, isAwaited: fc.boolean() }) },
            { weight: 1, arbitrary: fc.constant('abort' as const) },
          ),
          { maxLength: 12 },
        ),
        ending: fc.constantFrom('returns' as const, 'throws' as const),
        late: fc.array(access, { maxLength: 2 }),
      }),
      async (script) => expect(await play(script)).toBeUndefined(),
      { promised: 'audit', runs: { check: 15, nightly: 400, long: 20_000 } },
    );
  });
}
