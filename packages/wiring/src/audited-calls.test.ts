import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { AuditSink } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';
import { verifyRuntimeAudit } from './verify-runtime-audit.js';

let world: string;
let runtime: ToolRuntime;
let audit: MemoryAuditSink;

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'calls-')));
  const folder = join(world, 'home', 'personalities', 'clerk');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.yaml'), 'name: Clerk\n');
  audit = new MemoryAuditSink();
});
afterEach(async () => {
  await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

const ids: (string | undefined)[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  capabilities: {},
  requiresApproval: ({ amount }: { amount: number }) => amount > 10 && `pays ${amount}`,
  input: z.object({ amount: z.number() }),
  async execute({ amount }, ctx) {
    ids.push(ctx.toolCallId);
    return ok(`paid ${amount}`, { cost_usd: amount });
  },
});
const throwing = defineTool({
  name: 'throwing',
  description: 'Throws.',
  capabilities: {},
  input: z.object({}),
  async execute() {
    throw new TypeError('broken');
  },
});
const dry = defineTool({
  name: 'dry',
  description: 'Knows dry runs.',
  capabilities: {},
  input: z.object({}),
  supportsDryRun: true,
  execute: async () => ok('done'),
});
const key = defineTool({
  name: 'key',
  description: 'Uses a key.',
  capabilities: { secrets: ['K'] },
  input: z.object({ text: z.string() }),
  async execute(_, ctx) {
    await ctx.secretsResolver.get('K');
    return ok('used');
  },
});

async function start(options: Partial<ToolRuntimeOptions> = {}): Promise<void> {
  ids.length = 0;
  runtime = await createToolRuntime({
    home: join(world, 'home'),
    personality: 'clerk',
    tools: [pay, throwing, dry, key],
    secrets: async () => 'value-of-the-key',
    audit,
    ...options,
  });
}
const call = (name: string, args: unknown) => ({ toolCallId: `${name} id`, name, args });

describe('a call', () => {
  it('leaves one event, whatever becomes of it', async () => {
    await start({ auditArguments: true });
    const session = runtime.session('s', { identity: { userScopeId: 'ada' } });
    const [{ approval } = {}] = await session.execute([call('pay', { amount: 50 })]);
    expect(audit.calls).toEqual([]);
    if (approval === undefined) throw new Error('it was not asked');
    const said = { approved: true, args: { amount: 20 }, by: 'bob' } as const;
    await session.decide(approval, said);
    await session.resume();
    expect(audit.calls.splice(0)).toMatchObject([
      {
        kind: 'call',
        sessionId: 's',
        personalityId: 'clerk',
        userScopeId: 'ada',
        toolName: 'pay',
        toolCallId: 'pay id',
        args: { amount: 20 },
        argsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        approval: { approved: true, by: 'bob', edited: true, reason: 'pays 20' },
        outcome: 'ok',
        costUsd: 20,
        bytes: 7,
      },
    ]);
    expect(ids).toEqual(['pay id']);
    await session.execute([
      call('pay', { amount: 'x' }),
      call('gone', {}),
      call('throwing', {}),
      call('mcp__none__x', {}),
    ]);
    expect(
      audit.calls
        .splice(0)
        .map(({ toolName, outcome, gate }) => [toolName, outcome, gate])
        .sort(),
    ).toEqual([
      ['gone', 'not_available', 'findTool'],
      ['mcp__none__x', 'not_available', 'findTool'],
      ['pay', 'input_invalid', 'parseArguments'],
      ['throwing', 'execution_failed', undefined],
    ]);
    await session.check(call('pay', { amount: 1 }));
    expect(audit.calls).toEqual([]);
  });

  it('says that it was a dry run, wherever it was answered', async () => {
    await start({ auditArguments: true });
    for (const dryRun of [true, false]) {
      const options = { dryRun };
      await runtime.execute([call('dry', {})], options);
      await runtime.execute([call('pay', { amount: 1 })], options);
      await runtime.execute([call('pay', { amount: 1 })], { ...options, personality: 'nobody' });
      const records = audit.calls.splice(0);
      expect(records.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'not_available']);
      expect(records.map((record) => record.dryRun)).toEqual(
        Array(3).fill(dryRun ? true : undefined),
      );
    }
  });

  it('leaves one with arguments that no log can hold, and is told what is wrong with them', async () => {
    await start({ auditArguments: true, audit: [audit] });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
    const calls = [{ amount: deep }, { amount: cyclic }, { amount: 1n }].flatMap((args) => [
      call('pay', args),
      call('gone', args),
    ]);
    const results = await runtime.execute(calls);
    // No registry has these.
    results.push(...(await runtime.execute(calls, { personality: 'nobody' })));
    expect(results.map(({ result }) => result.ok || result.cause)).toEqual([
      ...Array(3).fill(['INPUT_INVALID', 'TOOL_NOT_FOUND']).flat(),
      ...Array(6).fill('CONFIG_INVALID'),
    ]);
    const logged = readFileSync(join(world, 'home', 'audit', 'audit.jsonl'), 'utf8');
    expect(logged.split('\n').filter((line) => line.includes('"args":null'))).toHaveLength(12);
    expect(audit.calls.splice(0).map(({ args }) => args)).toEqual(Array(12).fill(null));
  });

  it('leaves one where no registry had it', async () => {
    await start();
    await runtime.execute([call('pay', { amount: 1 })], { personality: 'nobody' });
    await runtime.execute([call('pay', { amount: 1 })], { tools: [] });
    await runtime
      .session('s', { limits: { maxCalls: 1 } })
      .execute([call('pay', { amount: 1 }), call('pay', { amount: 2 })]);
    expect(audit.calls.map(({ cause }) => cause)).toEqual([
      'CONFIG_INVALID',
      'TOOL_NOT_ALLOWED',
      'TURN_LIMIT',
      'TURN_LIMIT',
    ]);
    expect(ids).toEqual([]);
    expect(audit.calls[0]).not.toHaveProperty('args');
  });

  it('keeps secrets that it resolved out of its arguments', async () => {
    await start({ auditArguments: true });
    await runtime.execute([call('key', { text: 'is it value-of-the-key?' })]);
    expect(JSON.stringify(audit.calls)).not.toContain('value-of-the-key');
    expect(audit.calls).toMatchObject([{ args: { text: expect.stringContaining('is it') } }]);
  });

  it('is no answer where it can not be recorded', async () => {
    const sink: AuditSink = {
      record: () => {},
      call: () => {
        throw new Error('full');
      },
    };
    await start({ audit: sink });
    const [answer] = await runtime.execute([call('pay', { amount: 1 })]);
    expect(answer?.result).toMatchObject({ ok: false, cause: 'AUDIT_FAILED' });
  });

  it('stands in the chain of the log', async () => {
    await start({ audit: [audit] });
    await runtime.execute([call('pay', { amount: 1 }), call('key', { text: 'x' })]);
    await runtime.close();
    expect(await verifyRuntimeAudit(join(world, 'home'))).toMatchObject({ ok: true, events: 3 });
    await start();
  });
});
