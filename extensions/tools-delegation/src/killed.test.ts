import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startScript } from '@ethosagent/conformance/attacks';
import { createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAgents } from './fixtures/agents.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'killed-tasks-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

// A check kills a process of an agent in `killed-turns.test.ts`, and has tasks of an agent that is gone
// in `delegations.test.ts`.
it.runIf(isLongRun())(
  'a task whose process was killed is interrupted, and does not begin again',
  async () => {
    const path = join(folder, 'sessions.sqlite');
    const host = startScript(await bundleScript(new URL('./fixtures/host.ts', import.meta.url)), {
      args: [path],
    });
    let error: string | undefined;
    void host.ended.then(({ errors }) => {
      error = errors;
    });
    while (host.lines().length === 0 && error === undefined) await sleep(10);
    expect(error).toBeUndefined();
    const { id } = JSON.parse(host.lines()[0] ?? '').structured.task;
    host.child.kill('SIGKILL');
    expect((await host.ended).signal).toBe('SIGKILL');

    const sessions = createSqliteSessionStore({ path });
    const agents = createAgents({ sessions });
    expect(await agents.call('task_status')).toMatchObject({
      value: `${id}: interrupted (0 model calls, 0 tool calls), or still run by another process stay`,
      structured: { tasks: [{ id, state: 'interrupted' }] },
    });
    expect(await agents.call('task_result', { id, wait_seconds: 1 })).toMatchObject({
      ok: true,
      value: expect.stringMatching(/: interrupted .*the process that ran it has ended/),
    });
    expect(await agents.call('task_cancel', { id })).toMatchObject({
      value: expect.stringMatching(/It was not cancelled: .*another process still runs it/),
    });
    expect(agents.asked.map(({ task }) => task)).not.toContain('stay');
    sessions.close();
  },
);
