import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { truncationMarker } from '@ethosagent/policy';
import { FsStorage } from '@ethosagent/storage-fs';
import type { ScopedFs, ToolResult } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolResultReducerRegistry } from './tool-reducer-registry.js';
import { DefaultToolRegistry } from './tool-registry.js';

function registryWith(result: ToolResult, maxResultChars?: number): DefaultToolRegistry {
  const registry = new DefaultToolRegistry();
  const rest = maxResultChars === undefined ? {} : { maxResultChars };
  registry.register(makeTool('t', () => result, rest));
  return registry;
}

async function textOf(result: Promise<ToolResult>): Promise<string> {
  const settled = await result;
  return settled.ok ? settled.value : settled.error;
}

const LONG = 'x'.repeat(200_000);

describe('DefaultToolRegistry result budget', () => {
  it.each<[string, number | undefined, number | undefined, number]>([
    ['absent', undefined, undefined, 80_000],
    ['of 1000', 1000, undefined, 1000],
    ['of 1000, under a cap of 10', 1000, 10, 10],
    ['of 10, under a cap of 1000', 10, 1000, 10],
    ['of Infinity', Number.POSITIVE_INFINITY, undefined, 80_000],
    ['of -5', -5, undefined, 0],
    ['of 0', 0, undefined, 0],
    ['of 7.9', 7.9, undefined, 7],
    ['absent, under a cap of NaN', undefined, Number.NaN, 80_000],
    ['absent, under a cap of -1', undefined, -1, 0],
  ])('%s, cuts at %s/%s: %s characters', async (_name, total, cap, budget) => {
    const ctx = total === undefined ? {} : { resultBudgetChars: total };
    const value = await textOf(runOne(registryWith(ok(LONG), cap), 't', {}, ctx));
    expect(value).toBe(`${'x'.repeat(budget)}${truncationMarker(200000)}`);
  });

  it('is shared equally by the calls of a batch, and told to each', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', (_args, ctx) => ok(String(ctx.resultBudgetChars))));
    const calls = [1, 2, 3].map((id) => ({ toolCallId: `${id}`, name: 't', args: {} }));
    const results = await registry.executeParallel(calls, batchContext({ resultBudgetChars: 100 }));
    expect(results.map(({ result }) => result.ok && result.value)).toEqual(['33', '33', '33']);
  });

  it.each<[string, ToolResult, number, ToolResult]>([
    ['leaves a value of exactly the budget', ok('12345'), 5, ok('12345')],
    ['cuts a value of one more', ok('123456'), 5, ok(`12345${truncationMarker(6)}`)],
    ['does not cut an emoji in half', ok('1234😀6'), 5, ok(`1234${truncationMarker(7)}`)],
    [
      'cuts an error and keeps its code',
      { ok: false, error: 'abcdefgh', code: 'input_invalid' },
      5,
      { ok: false, error: `abcde${truncationMarker(8)}`, code: 'input_invalid' },
    ],
    [
      'keeps structured and cost_usd whole',
      { ok: true, value: 'abcdefgh', structured: { rows: ['abcdefgh'] }, cost_usd: 0.1 },
      5,
      {
        ok: true,
        value: `abcde${truncationMarker(8)}`,
        structured: { rows: ['abcdefgh'] },
        cost_usd: 0.1,
      },
    ],
    ['makes lone surrogates well-formed', ok('a\ud800b'), 5, ok('a\ufffdb')],
  ])('%s', async (_name, result, budget, expected) => {
    expect(await runOne(registryWith(result), 't', {}, { resultBudgetChars: budget })).toEqual(
      expected,
    );
  });
});

describe('DefaultToolRegistry result pipeline', () => {
  it('checks, reduces, redacts and trims, in this order', async () => {
    const seen: unknown[] = [];
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register({
      toolName: 't',
      reduce: (result, { args, turnCount }) => {
        seen.push(result, args, turnCount);
        return result.ok ? { ...result, value: `reduced ${result.value} hunter2222` } : result;
      },
    });
    const registry = new DefaultToolRegistry(
      { secretsBackend: async () => 'hunter2222' },
      reducers,
    );
    registry.register(
      makeTool(
        't',
        async (args, ctx) => {
          await ctx.secretsResolver?.get('key');
          Object.assign(Object(args), { changed: true });
          return { ok: true, value: 'hunter2222', cost_usd: 'nonsense', extra: 1 };
        },
        { capabilities: { secrets: ['key'] } },
      ),
    );
    const result = await runOne(registry, 't', { a: 1 }, { resultBudgetChars: 22, currentTurn: 4 });
    // The reducer saw a checked result before redaction, and the arguments as they were issued.
    expect(seen).toEqual([{ ok: true, value: 'hunter2222' }, { a: 1 }, 4]);
    expect(result).toEqual(ok(`reduced [secret:key] [${truncationMarker(33)}`));
  });

  it('gives a reducer the failure of a tool that threw, and ignores that it made a success of it', async () => {
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register({ toolName: 't', reduce: () => ok('all is well') });
    const registry = new DefaultToolRegistry({}, reducers);
    registry.register(
      makeTool('t', () => {
        throw new Error('broken');
      }),
    );
    expect(await runOne(registry, 't')).toEqual({
      ok: false,
      code: 'execution_failed',
      error: 'broken',
    });
  });

  it('ignores a reducer that throws', async () => {
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register({
      toolName: 't',
      reduce: () => {
        throw new Error('reducer');
      },
    });
    const registry = new DefaultToolRegistry({}, reducers);
    registry.register(makeTool('t'));
    expect(await runOne(registry, 't')).toEqual(ok('done'));
  });

  it('runs a tool whose parsed arguments can not be cloned, reducer or not', async () => {
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register({ toolName: 't', reduce: (result) => result });
    const registry = new DefaultToolRegistry({}, reducers);
    const input = {
      parse: () => ({ ok: true as const, args: { compute: () => 42 } }),
      run: async (args: { compute: () => number }) => ok(String(args.compute())),
    };
    registry.register(makeTool('t', undefined, { input }));
    expect(await runOne(registry, 't')).toEqual(ok('42'));
  });
});

describe('DefaultToolRegistry dry run', () => {
  function dryRegistry() {
    const ran: string[] = [];
    const asked: string[] = [];
    const registry = new DefaultToolRegistry({
      approve: ({ toolName }) => {
        asked.push(toolName);
        return false;
      },
    });
    const run = (name: string) => (_args: unknown, ctx: { dryRun?: boolean }) => {
      ran.push(name);
      return ok(`dryRun ${ctx.dryRun}`);
    };
    registry.registerAll([
      makeTool('writes', run('writes'), { requiresApproval: true }),
      makeTool('plans', run('plans'), { supportsDryRun: true, requiresApproval: true }),
      makeTool('closed', run('closed'), { isAvailable: () => false }),
    ]);
    return { registry, ran, asked };
  }

  it.each<[string, unknown, string]>([
    ['arguments', { path: '/a', n: 1 }, '{"path":"/a","n":1}'],
    [
      'secret-looking keys, at any depth',
      { auth: { apiKey: 'k', API_KEY: 'k', password: 'p', access_token: 't' }, Authorization: 'b' },
      '{"auth":{"apiKey":"[redacted]","API_KEY":"[redacted]","password":"[redacted]","access_token":"[redacted]"},"Authorization":"[redacted]"}',
    ],
    ['null', null, 'null'],
    ['600 characters', { a: 'x'.repeat(600) }, `{"a":"${'x'.repeat(494)}…`],
  ])(
    'answers for a tool that was called with %s, and does not run it',
    async (_name, args, shown) => {
      const { registry, ran, asked } = dryRegistry();
      expect(await runOne(registry, 'writes', args, { dryRun: true })).toEqual(
        ok(`[dry-run] writes would be called with ${shown}`),
      );
      expect([ran, asked]).toEqual([[], []]);
    },
  );

  it('runs a tool that supports it, and asks nobody', async () => {
    const { registry, ran, asked } = dryRegistry();
    expect(await runOne(registry, 'plans', {}, { dryRun: true })).toEqual(ok('dryRun true'));
    expect([ran, asked]).toEqual([['plans'], []]);
  });

  it('lets no tool change a file, whatever the tool makes of it', async () => {
    const root = mkdtempSync(join(tmpdir(), 'dry-run-'));
    const path = join(root, 'a.txt');
    writeFileSync(path, 'old');
    const storage = new FsStorage();
    const audit = new MemoryAuditSink();
    const reach = { read: [root], write: [root] };
    const registry = new DefaultToolRegistry({ storage, personalityFsReach: reach, audit });
    const makes = {
      write: (fs: ScopedFs) => fs.write(path, 'new'),
      append: (fs: ScopedFs) => fs.append(path, 'new'),
      mkdir: (fs: ScopedFs) => fs.mkdir(join(root, 'folder')),
      rename: (fs: ScopedFs) => fs.rename(path, join(root, 'b.txt')),
      remove: (fs: ScopedFs) => fs.remove(path),
    };
    registry.registerAll(
      Object.entries(makes).map(([name, make]) =>
        makeTool(
          name,
          async (_args, { scopedFs, storage: own }) => {
            if (scopedFs === undefined) return ok('no files');
            const text = await scopedFs.read(path);
            const tried = await Promise.allSettled([
              make(scopedFs),
              ...(name === 'write' && own ? [own.write(path, 'new')] : []),
            ]);
            return ok(`${text} ${tried.map((each) => each.status).join(' ')}`);
          },
          { supportsDryRun: true, capabilities: { fs_reach: { read: [root], write: [root] } } },
        ),
      ),
    );
    for (const name of Object.keys(makes)) {
      expect(await runOne(registry, name, {}, { dryRun: true, storage })).toEqual(
        ok(name === 'write' ? 'old rejected rejected' : 'old rejected'),
      );
    }
    expect(readdirSync(root)).toEqual(['a.txt']);
    expect(readFileSync(path, 'utf8')).toBe('old');
    const denied = audit.events.filter(({ decision }) => decision === 'denied');
    expect(new Set(denied.map(({ reason }) => reason))).toEqual(new Set(['dry run']));
    expect(await runOne(registry, 'write', {}, { storage })).toEqual(ok('old fulfilled fulfilled'));
    rmSync(root, { recursive: true });
  });

  it('passes the gates first', async () => {
    const { registry } = dryRegistry();
    expect(await runOne(registry, 'closed', {}, { dryRun: true })).toMatchObject({
      code: 'not_available',
    });
  });

  it('shows parsed arguments that JSON can not say', async () => {
    const registry = new DefaultToolRegistry();
    const input = {
      parse: () => ({ ok: true as const, args: { big: 10n } }),
      run: async () => ok('ran'),
    };
    registry.register(makeTool('t', undefined, { input }));
    expect(await runOne(registry, 't', {}, { dryRun: true })).toEqual(
      ok('[dry-run] t would be called with {"big":"10n"}'),
    );
  });

  it('without it, the same tool runs', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', (_args, ctx) => ok(String('dryRun' in ctx))));
    expect(await runOne(registry, 't')).toEqual(ok('false'));
  });
});
