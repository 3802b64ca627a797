import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage } from '@ethosagent/storage-fs';
import type { Storage, ToolBatchContext, ToolContext, ToolProgressEvent } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import { MemoryAuditSink } from './audit/memory-audit-sink.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { batchContext, makeTool, ok } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const BATCHES = 1000;
const PERSONALITIES = 10;
const home = mkdtempSync(join(tmpdir(), 'isolation-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const folderOf = (personalityId: string | undefined) => join(home, String(personalityId));
const hostOf = (personalityId: string | undefined) => `${personalityId}.example`;

/** Answers with the host that was asked, and takes part in the interleaving. */
const fakeFetch: typeof fetch = async (input) => {
  await pause();
  return new Response(new URL(String(input)).host);
};

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
}

async function attempt(run: () => Promise<unknown> | undefined): Promise<string> {
  try {
    return String(await run());
  } catch (error) {
    return error instanceof Error ? error.message.split(':', 1).join() : 'unknown';
  }
}

/** What one call can see of the world, with a pause between any two looks. */
async function lookAround(args: unknown, ctx: ToolContext): Promise<object> {
  const { batch, call, others } = Object(args);
  const mark = `${batch}/${call}`;
  const own = join(folderOf(ctx.personalityId), `${mark.replace('/', '-')}.txt`);
  ctx.emit({ type: 'progress', toolName: 'look', message: `begin ${mark}` });
  await pause();
  await ctx.kvStore?.set(mark, mark);
  await pause();
  await ctx.scopedFs?.write(own, mark);
  await pause();
  const secret = await ctx.secretsResolver?.get('key');
  const seen = {
    facts: [ctx.sessionId, ctx.personalityId, ctx.currentTurn, ctx.agentId, ctx.workingDir],
    args: [batch, call],
    keys: (await ctx.kvStore?.list(''))?.every((key) => key.startsWith(`${batch}/`)),
    file: await ctx.scopedFs?.read(own),
    otherFile: await attempt(() => ctx.scopedFs?.list(folderOf(others))),
    turnStorage: await ctx.storage?.read('/who'),
    host: await attempt(async () =>
      (await ctx.scopedFetch?.fetch(`http://${hostOf(ctx.personalityId)}/`))?.text(),
    ),
    otherHost: await attempt(() => ctx.scopedFetch?.fetch(`http://${hostOf(others)}/`)),
    aborted: ctx.abortSignal.aborted,
    secretLength: secret?.length,
  };
  ctx.emit({ type: 'progress', toolName: 'look', message: `end ${mark}` });
  return { ok: true, value: mark, structured: { seen } };
}

function turnStorage(name: string): Storage {
  const storage = new FsStorage();
  return Object.assign(storage, { read: async () => name, contained: undefined });
}

describe('DefaultToolRegistry, 1,000 batches at once', () => {
  it('no batch sees another’s context, personality, session, store, files, hosts, events or abort', async () => {
    const audit = new MemoryAuditSink();
    const registry = new DefaultToolRegistry({
      audit,
      storage: new FsStorage(),
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      secretsBackend: async () => 'a-secret-value',
      fetch: fakeFetch,
      lookup: async () => [{ address: '93.184.216.34' }],
      personalityFsReach: (id) => ({ read: [folderOf(id)], write: [folderOf(id)] }),
      personalityNetworkAllow: (id) => [hostOf(id)],
    });
    registry.register(
      makeTool('look', lookAround, {
        capabilities: {
          storage: { scope: 'session', kind: 'kv', concurrency: 'parallel' },
          fs_reach: { read: 'from-personality', write: 'from-personality' },
          network: { allowedHosts: ['*'] },
          secrets: ['key'],
        },
      }),
    );
    registry.register(makeTool('hang', () => new Promise(() => {})));

    const runs = Array.from({ length: BATCHES }, async (_, batch) => {
      const personalityId = `p${batch % PERSONALITIES}`;
      const others = `p${(batch + 1) % PERSONALITIES}`;
      const events: ToolProgressEvent[] = [];
      const controller = new AbortController();
      const hangs = batch % 10 === 0;
      const ctx: ToolBatchContext = batchContext({
        sessionId: `s${batch}`,
        personalityId,
        agentId: `a${batch}`,
        currentTurn: batch,
        workingDir: `/dir/${batch}`,
        storage: turnStorage(`storage ${batch}`),
        emit: (event) => {
          // The honest calls are over after their last word.
          if (events.push(event) === 4) setTimeout(() => controller.abort(), 10);
        },
        abortSignal: controller.signal,
      });
      const calls = [0, 1].map((call) => ({
        toolCallId: `${batch}/${call}`,
        name: 'look',
        args: { batch, call, others },
      }));
      const hanging = { toolCallId: `${batch}/hang`, name: 'hang', args: {} };
      await pause();
      const pending = registry.executeParallel(hangs ? [...calls, hanging] : calls, ctx);
      const results = await pending;
      if (hangs) {
        expect(results.pop()?.result).toEqual({
          ok: false,
          code: 'execution_failed',
          error: 'the turn was aborted',
        });
      }
      expect(results).toEqual(
        [0, 1].map((call) => ({
          toolCallId: `${batch}/${call}`,
          name: 'look',
          result: {
            ...ok(`${batch}/${call}`),
            structured: {
              seen: {
                facts: [`s${batch}`, personalityId, batch, `a${batch}`, `/dir/${batch}`],
                args: [batch, call],
                keys: true,
                file: `${batch}/${call}`,
                otherFile: 'PATH_NOT_REACHABLE',
                turnStorage: `storage ${batch}`,
                host: hostOf(personalityId),
                otherHost: 'HOST_NOT_ALLOWED',
                aborted: false,
                secretLength: 14,
              },
            },
          },
        })),
      );
      expect(events.map(({ message }) => message).sort()).toEqual([
        `begin ${batch}/0`,
        `begin ${batch}/1`,
        `end ${batch}/0`,
        `end ${batch}/1`,
      ]);
    });
    await Promise.all(runs);

    // Eight accesses a call, each under the call's own name.
    expect(audit.events).toHaveLength(BATCHES * 2 * 9);
    for (const { sessionId, personalityId, toolCallId } of audit.events) {
      const batch = Number(toolCallId.split('/')[0]);
      expect([sessionId, personalityId]).toEqual([`s${batch}`, `p${batch % PERSONALITIES}`]);
    }
  });
});
