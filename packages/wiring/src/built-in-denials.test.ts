import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createInMemoryKvStore,
  createInMemoryMemory,
  createInMemorySessionStore,
  DefaultToolRegistry,
} from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import type { AnyTool, DelegationProvider } from '@ethosagent/types';
import { CapabilityError } from '@ethosagent/types';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_TOOLS } from './extension-tools.js';
import { pickTools } from './tools-by-name.js';

const dir = mkdtempSync(join(tmpdir(), 'denials-'));
mkdirSync(join(dir, 'in'));
writeFileSync(join(dir, 'in', 'package.json'), '{"scripts":{"lint":"true","test":"true"}}');
writeFileSync(join(dir, 'in', 'a.txt'), 'a');
const file = join(dir, 'in', 'a.txt');

/** For each tool, arguments with which it tries to reach something outside. */
const ARGUMENTS: Record<string, object> = {
  read_file: { path: file },
  write_file: { path: join(dir, 'in', 'new.txt'), content: 'x' },
  patch_file: { path: file, hunks: [{ search: 'a', replace: 'b' }] },
  search_files: { path: join(dir, 'in'), pattern: 'a' },
  terminal: { command: 'true' },
  terminal_start: { command: 'true' },
  terminal_read: { id: 'p1' },
  terminal_send_keys: { id: 'p1', text: 'x' },
  terminal_stop: { id: 'p1' },
  lint: {},
  typecheck: {},
  run_tests: {},
  run_code: { language: 'bash', code: 'true' },
  fetch_url: { url: 'https://example.com/' },
  web_search: { query: 'x' },
  memory_read: {},
  memory_write: { action: 'add', text: 'x' },
  session_search: { query: 'x' },
  todo_set: { items: [{ text: 'a' }] },
  todo_add: { items: [{ text: 'a' }] },
  todo_update: { items: [{ id: '1', state: 'done' }] },
  todo_list: {},
  todo_clear: {},
  task: { prompt: 'x' },
  task_start: { prompt: 'x' },
  task_status: { id: 'x' },
  task_result: { id: 'x' },
  task_cancel: { id: 'x' },
  read_quarantined: { tool: 'x', args: {}, question: 'x', schema: { type: 'boolean' } },
  browser_navigate: { url: 'https://example.com/' },
};

/**
 * These tools use a browser that another call has opened. Without one, there is nothing to deny.
 */
const NEEDS_BROWSER = (name: string) => name.startsWith('browser_') && name !== 'browser_navigate';

const NAMES = Object.values(EXTENSION_TOOLS).flatMap(({ tools }) => [...tools]);
let tools: readonly AnyTool[];
beforeAll(async () => {
  tools = (await pickTools(NAMES)).tools;
});

/** Calls a tool in a registry with a backend for everything that tools declare. */
async function callOf(name: string, audit: () => void, reach = join(dir, 'in')) {
  const told: unknown[] = [];
  const { kvStoreFactory } = createInMemoryKvStore();
  const registry = new DefaultToolRegistry(
    {
      audit: { record: audit },
      kvStoreFactory,
      storage: new FsStorage(),
      memory: createInMemoryMemory(),
      sessions: createInMemorySessionStore(),
      secretsBackend: async () => 'a key of the provider',
      personalityFsReach: { read: [reach], write: [reach] },
      personalityNetworkAllow: ['*'],
      personalityToolSettings: (_, key) =>
        key === 'web_search' ? { provider: 'brave' } : undefined,
      approve: () => true,
      lookup: async () => [{ address: '203.0.113.1', family: 4 }],
      fetch: () => Promise.reject(new Error('nothing may be fetched')),
    },
    undefined,
    { onError: ({ error }) => void told.push(error) },
  );
  registry.registerAll(tools);
  const [answer] = await registry.executeParallel(
    [{ toolCallId: 'c', name, args: ARGUMENTS[name] ?? {} }],
    {
      sessionId: 's',
      sessionKey: 's',
      platform: 'test',
      workingDir: join(dir, 'in'),
      personalityId: 'p',
      currentTurn: 1,
      messageCount: 1,
      abortSignal: new AbortController().signal,
      emit: () => {},
      resultBudgetChars: 80_000,
      readMtimes: new Map(),
    },
    undefined,
    undefined,
    undefined,
    { delegation },
  );
  return { result: answer?.result, told };
}

/** A loop's answer to a task that it refuses. */
const refuseTask = () =>
  Promise.reject(new CapabilityError('DELEGATION_REFUSED', 'not this one', 'test'));
const delegation: DelegationProvider = {
  run: refuseTask,
  start: refuseTask,
  list: refuseTask,
  get: refuseTask,
  cancel: refuseTask,
};

describe('a denial, as each built-in tool answers it', () => {
  it('has arguments for every tool', () => {
    const known = NAMES.filter((name) => !NEEDS_BROWSER(name));
    expect(Object.keys(ARGUMENTS).sort()).toEqual([...known].sort());
  });

  it.each(Object.keys(ARGUMENTS))('%s: execution_failed with the message', async (name) => {
    const { result, told } = await callOf(name, () => {
      throw new Error('the sink is full');
    });
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    if (result === undefined || result.ok) return;
    expect(result.cause).toMatch(/^(AUDIT_FAILED|DELEGATION_REFUSED)$/);
    const [error] = told;
    if (!(error instanceof CapabilityError)) throw new Error(`no error: ${String(error)}`);
    expect(error.code).toBe(result.cause);
    // The whole message comes first. What to do next follows it.
    expect(result.error.startsWith(error.message)).toBe(true);
    expect(JSON.stringify(result)).not.toContain('the sink is full');
  });

  const outside = ['read_file', 'write_file', 'patch_file', 'search_files', 'terminal', 'lint'];
  it.each(outside)('%s of a path outside is PATH_NOT_REACHABLE', async (name) => {
    const reach = join(dir, 'nowhere');
    const { result, told } = await callOf(name, () => {}, reach);
    expect(result).toMatchObject({
      ok: false,
      code: 'execution_failed',
      cause: 'PATH_NOT_REACHABLE',
      error: expect.stringMatching(/^PATH_NOT_REACHABLE: (read|write) not permitted for /),
    });
    expect(told).toMatchObject([{ code: 'PATH_NOT_REACHABLE', rule: 'outside the reach' }]);
  });
});
