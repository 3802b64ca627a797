import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInMemoryKvStore, MemoryAuditSink } from '@ethosagent/core';
import { FsStorage, InMemoryStorage } from '@ethosagent/storage-fs';
import { countTries, seedOfRun, tries } from '@ethosagent/test-support';
import type { ToolBatchContext, ToolContext, ToolRegistry } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../contained/random.js';
import { batchContext, type CreateRegistry, LONGEST_MS, ok, pause, toolOf } from './batch.js';

const PERSONALITIES = 10;
const AT_ONCE = 200;
/** The number of batches of which one writes a file, since each write waits for the disk. */
const FILES_IN = 4;
const SECRET = 'a-secret-value';

const hostOf = (personalityId: unknown) => `${personalityId}.example`;

/**
 * Attacks with batches of many sessions and personalities at the same time. None may see anything
 * of another.
 */
export function crossingAttacks(create: CreateRegistry): void {
  describe('many batches at once', () => {
    let home: string;
    beforeAll(() => {
      home = mkdtempSync(join(tmpdir(), 'crossing-'));
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    it(
      'no batch sees another’s context, personality, session, store, files, hosts, events, approvals or abort',
      async (context) => {
        const batches = tries({ check: 20, long: 100_000 });
        const world = new CrossingWorld(create, home);
        for (let first = 0; first < batches; first += AT_ONCE) {
          const numbers = Array.from(
            { length: Math.min(AT_ONCE, batches) },
            (_, index) => first + index,
          );
          await Promise.all(numbers.map((batch) => world.run(batch)));
          world.checkAudit(numbers.length);
        }
        countTries(context, 'batches', batches);
      },
      LONGEST_MS,
    );
  });
}

/** One registry, and the facts that each of its batches may see. */
class CrossingWorld {
  readonly #random = new Random(seedOfRun());
  readonly #audit = new MemoryAuditSink();
  readonly #home: string;
  readonly #registry: ToolRegistry;

  constructor(create: CreateRegistry, home: string) {
    this.#home = home;
    this.#registry = create({
      audit: this.#audit,
      storage: new FsStorage(),
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      secretsBackend: async () => SECRET,
      fetch: async (input) => {
        await this.#pause();
        return new Response(new URL(String(input)).host);
      },
      lookup: async () => [{ address: '93.184.216.34' }],
      personalityFsReach: (id) => ({ read: [this.#folderOf(id)], write: [this.#folderOf(id)] }),
      personalityNetworkAllow: (id) => [hostOf(id)],
      approve: async ({ sessionId, personalityId, toolCallId, args }) => {
        const { batch, call } = Object(args);
        const mine = [`s${batch}`, `p${batch % PERSONALITIES}`, `${batch}/${call}`];
        expect([sessionId, personalityId, toolCallId]).toEqual(mine);
        // The abort follows the last message of the other call. The refusal must come before it.
        if (call === 0) await this.#pause();
        return call === 0;
      },
    });
    this.#registry.register(
      toolOf('look', (args, ctx) => this.#look(args, ctx), {
        requiresApproval: true,
        capabilities: {
          storage: { scope: 'session', kind: 'kv', concurrency: 'parallel' },
          fs_reach: { read: 'from-personality', write: 'from-personality' },
          network: { allowedHosts: ['*'] },
          secrets: ['key'],
        },
      }),
    );
    this.#registry.register(toolOf('hang', () => new Promise(() => {})));
  }

  /** Runs one batch, and checks that it saw only its own facts. */
  async run(batch: number): Promise<void> {
    const personalityId = `p${batch % PERSONALITIES}`;
    const others = `p${(batch + 1) % PERSONALITIES}`;
    const events: string[] = [];
    const controller = new AbortController();
    const hangs = batch % 10 === 0;
    const ctx: ToolBatchContext = batchContext({
      sessionId: `s${batch}`,
      personalityId,
      agentId: `a${batch}`,
      currentTurn: batch,
      workingDir: `/dir/${batch}`,
      resultBudgetChars: 3 * (100 + batch),
      storage: await storageThatSays(
        join(this.#folderOf(personalityId), 'who'),
        `storage ${batch}`,
      ),
      emit: ({ message }) => {
        // The honest call ends after its last message.
        if (events.push(message) === 2) setTimeout(() => controller.abort(), 5);
      },
      abortSignal: controller.signal,
    });
    const calls = [0, 1].map((call) => ({
      toolCallId: `${batch}/${call}`,
      name: 'look',
      args: { batch, call, others },
    }));
    const last = { toolCallId: `${batch}/2`, name: hangs ? 'hang' : 'none', args: {} };
    await this.#pause();
    const results = await this.#registry.executeParallel([...calls, last], ctx);
    expect(results).toEqual([
      {
        toolCallId: `${batch}/0`,
        name: 'look',
        result: {
          ...ok(`${batch}/0`),
          structured: {
            facts: [`s${batch}`, personalityId, batch, `a${batch}`, `/dir/${batch}`, 100 + batch],
            args: [batch, 0],
            keys: [`${batch}/0`],
            file: batch % FILES_IN === 0 ? `${batch}/0` : undefined,
            otherFile: 'PATH_NOT_REACHABLE',
            turnStorage: `storage ${batch}`,
            host: hostOf(personalityId),
            otherHost: 'HOST_NOT_ALLOWED',
            aborted: false,
            secretLength: SECRET.length,
          },
        },
      },
      {
        toolCallId: `${batch}/1`,
        name: 'look',
        result: {
          ok: false,
          code: 'not_available',
          error: expect.stringContaining('refused'),
          cause: 'NOT_APPROVED',
        },
      },
      {
        ...last,
        args: undefined,
        result: {
          ok: false,
          code: hangs ? 'execution_failed' : 'not_available',
          error: expect.any(String),
          cause: hangs ? 'CALL_ABORTED' : 'TOOL_NOT_FOUND',
        },
      },
    ]);
    expect(events).toEqual([`begin ${batch}/0`, `end ${batch}/0`]);
  }

  /** Checks that every access of some batches is recorded under the call that made it. */
  checkAudit(batches: number): void {
    const events = this.#audit.events.splice(0);
    for (const { sessionId, personalityId, toolCallId } of events) {
      const batch = Number.parseInt(toolCallId, 10);
      expect([sessionId, personalityId]).toEqual([`s${batch}`, `p${batch % PERSONALITIES}`]);
    }
    // Seven accesses per batch, and two more if it writes a file.
    expect(events).toHaveLength((7 + 2 / FILES_IN) * batches);
  }

  /** Collects everything that one call can see of the world, with a pause between two looks. */
  async #look(args: unknown, ctx: ToolContext): Promise<object> {
    const { batch, call, others } = Object(args);
    const mark = `${batch}/${call}`;
    const folder = this.#folderOf(ctx.personalityId);
    const own = join(folder, `${batch % AT_ONCE}.txt`);
    ctx.emit({ type: 'progress', toolName: 'look', message: `begin ${mark}` });
    await this.#pause();
    await ctx.kvStore?.set(mark, mark);
    await this.#pause();
    const file = batch % FILES_IN === 0;
    if (file) await ctx.scopedFs?.write(own, mark);
    await this.#pause();
    const secret = await ctx.secretsResolver?.get('key');
    const facts = [ctx.sessionId, ctx.personalityId, ctx.currentTurn, ctx.agentId, ctx.workingDir];
    const structured = {
      facts: [...facts, ctx.resultBudgetChars],
      args: [batch, call],
      keys: await ctx.kvStore?.list(''),
      file: file ? await ctx.scopedFs?.read(own) : undefined,
      otherFile: await outcome(() => ctx.scopedFs?.list(this.#folderOf(others))),
      turnStorage: await ctx.storage?.read(join(folder, 'who')),
      host: await outcome(async () =>
        (await ctx.scopedFetch?.fetch(`http://${hostOf(ctx.personalityId)}/`))?.text(),
      ),
      otherHost: await outcome(() => ctx.scopedFetch?.fetch(`http://${hostOf(others)}/`)),
      aborted: ctx.abortSignal.aborted,
      secretLength: secret?.length,
    };
    ctx.emit({ type: 'progress', toolName: 'look', message: `end ${mark}` });
    return { ok: true, value: mark, structured };
  }

  #folderOf(personalityId: unknown): string {
    return join(this.#home, String(personalityId));
  }

  #pause(): Promise<void> {
    return pause(this.#random.between(0, 3));
  }
}

async function storageThatSays(path: string, text: string): Promise<InMemoryStorage> {
  const storage = new InMemoryStorage();
  await storage.write(path, text);
  return storage;
}

/** Returns the outcome of an access: its value, or the code of its denial. */
async function outcome(run: () => Promise<unknown> | undefined): Promise<string> {
  try {
    return String(await run());
  } catch (error) {
    return String(Object(error).code);
  }
}
