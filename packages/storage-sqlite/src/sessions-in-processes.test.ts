import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningScript, startScript } from '@ethosagent/conformance/attacks';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRaw } from './fixtures/open-raw.js';
import { createSqliteMemory } from './sqlite-memory.js';
import { createSqliteSessionStore } from './sqlite-session-store.js';

const appender = await bundleScript(new URL('./fixtures/append-messages.ts', import.meta.url));
const running: RunningScript[] = [];

function startAppending(id: string, turns: number): RunningScript {
  const script = startScript(appender, { args: [folder, id, `${turns}`] });
  running.push(script);
  return script;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sessions-processes-'));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true });
});

/** Checks that everything that the scripts report as stored is stored. */
async function assertStored(scripts: readonly RunningScript[]): Promise<void> {
  const acknowledged = scripts.flatMap((script) => script.lines());
  const sessions = createSqliteSessionStore({ path: join(folder, 'sessions.db') });
  const memory = createSqliteMemory({ path: join(folder, 'memory.db') });
  const messages = await sessions.messages('shared');
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, i) => i + 1));
  const [log] = (await memory.read('global')).sections;
  const entries = new Set(log?.text.split('\n\n'));
  for (const text of acknowledged) {
    const place = messages.findIndex((message) => message.text === text);
    expect(place).toBeGreaterThanOrEqual(0);
    expect(messages[place + 1]?.text).toBe(`answer ${text}`);
    expect(entries).toContain(text);
    expect(await sessions.search(`"answer ${text}"`)).toHaveLength(1);
    expect(await memory.search('global', text)).toHaveLength(1);
  }
  sessions.close();
  memory.close();
  for (const [file, table] of [
    ['sessions.db', 'message_words'],
    ['memory.db', 'section_words'],
  ]) {
    const db = openRaw(join(folder, `${file}`));
    expect(db.pragma('integrity_check')).toBe('ok');
    db.exec(`INSERT INTO ${table} (${table}) VALUES ('integrity-check')`);
    db.close();
  }
}

describe('a session and a memory that several processes write', () => {
  it.runIf(isLongRun())('lose nothing, and a batch of messages stays together', async () => {
    const scripts = ['a', 'b', 'c'].map((id) => startAppending(id, 40));
    for (const { ended } of scripts) expect(await ended).toMatchObject({ code: 0 });
    expect(scripts.flatMap((script) => script.lines())).toHaveLength(120);
    await assertStored(scripts);
  });

  it('keep what was acknowledged to processes that were killed', async () => {
    const scripts = ['a', 'b'].map((id) => startAppending(id, 100_000));
    for (const { child, lines, ended } of scripts) {
      while (lines().length < 10 && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 5));
      child.kill('SIGKILL');
      await ended;
    }
    await assertStored(scripts);
  });
});
