import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { JsonlAuditSink } from '@ethosagent/core';
import { denyFloor } from '@ethosagent/policy';
import { createSqliteKvStore, createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import { EthosError, errorCodeOf } from '@ethosagent/types';
import { createHomeMemory } from './home-memory.js';
import { personalityReach } from './personality-reach.js';
import { createPersonalityStore } from './personality-store.js';
import { type Closable, closeAll, Runtime } from './runtime.js';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import { pickTools } from './tools-by-name.js';

/**
 * The composition root: reads a personality from disk, binds disk, SQLite, memory, sessions,
 * secrets, network, process environment and audit, and registers the tools.
 * @throws `CONFIG_INVALID` naming the file and the key, or the audit log that can't be opened;
 * `TOOL_INVALID`, `TOOL_NAME_TAKEN`, `STORE_CORRUPT`, `STORE_NEWER`, `STORE_UNAVAILABLE`
 */
export async function createToolRuntime(options: ToolRuntimeOptions): Promise<ToolRuntime> {
  const { home, cwd = process.cwd() } = options;
  assertOptions({ cwd, tools: options.tools });
  const picked = await pickTools(options.tools ?? []);
  const personalities = createPersonalityStore({ home, cwd });
  personalityReach(home, await personalities.get(options.personality));
  const store = createSqliteKvStore({ path: join(home, 'state.sqlite') });
  const opened: Closable[] = [store];
  try {
    let { audit, sessions } = options;
    if (sessions === undefined) {
      const own = createSqliteSessionStore({ path: join(home, 'sessions.sqlite') });
      opened.push(own);
      sessions = own;
    }
    const memory = options.memory ?? createHomeMemory(home);
    if (audit === undefined) {
      const own = openAudit(join(home, 'audit'));
      opened.push(own);
      audit = own;
    }
    const denyPaths = denyPathsOf(options);
    const runtime = new Runtime({
      options,
      picked,
      cwd,
      personalities,
      store,
      memory,
      sessions,
      audit,
      denyPaths,
      opened,
    });
    await runtime.start();
    return runtime;
  } catch (error) {
    closeAll(opened);
    throw error;
  }
}

/** What plain JavaScript may give. @throws `CONFIG_INVALID` */
function assertOptions({ cwd, tools }: { cwd: unknown; tools: unknown }): void {
  if (tools !== undefined && !Array.isArray(tools)) {
    throw new EthosError(
      'CONFIG_INVALID',
      'tools is not a list; give tools, or their names, in []',
    );
  }
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
    throw new EthosError('CONFIG_INVALID', `cwd: ${String(cwd)} is not an absolute path`);
  }
}

const MAX_AUDIT_LOGS = 1_000;

/** The first of `audit.jsonl`, `audit-2.jsonl`, … that no other runtime writes: a log has one writer. */
function openAudit(folder: string): JsonlAuditSink {
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? 'audit.jsonl' : `audit-${number}.jsonl`);
    try {
      return new JsonlAuditSink({ path });
    } catch (cause) {
      const code = errorCodeOf(cause);
      if (code === 'STORE_UNAVAILABLE' && number < MAX_AUDIT_LOGS) continue;
      if (code !== undefined) throw cause;
      const why = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
      throw new EthosError(
        'CONFIG_INVALID',
        `${path}: the audit log can not be opened${why}; make its folder one that this process can write in, or give an audit sink`,
        { cause },
      );
    }
  }
}

/** The deny floor, and the runtime's own state. */
function denyPathsOf({ home, denyPaths = [] }: ToolRuntimeOptions): string[] {
  const state = ['state.sqlite', 'sessions.sqlite'].flatMap((name) =>
    ['', '-wal', '-shm', '-journal'].map((end) => join(home, name + end)),
  );
  return denyFloor({
    home: homedir(),
    secretsDir: join(home, 'secrets'),
    extra: [
      ...state,
      ...['audit', 'attachments', 'memory'].map((name) => join(home, name)),
      ...denyPaths,
    ],
  });
}
