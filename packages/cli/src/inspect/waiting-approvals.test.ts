import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInMemorySessionStore } from '@ethosagent/core';
import { createToolRuntime } from '@ethosagent/wiring';
import { expect, it } from 'vitest';
import { WaitingApprovals } from './waiting-approvals.js';

it('WaitingApprovals.list says when it looked only at the newest sessions', async () => {
  const home = mkdtempSync(join(tmpdir(), 'waiting-'));
  mkdirSync(join(home, 'personalities', 'user'), { recursive: true });
  writeFileSync(join(home, 'personalities', 'user', 'config.yaml'), 'name: User\n');
  const sessions = createInMemorySessionStore();
  const message = [{ role: 'user', text: 'hello' }] as const;
  for (let index = 0; index < 10_000; index++)
    await sessions.append({ id: `s${index}`, scopeId: 's' }, message);
  const runtime = await createToolRuntime({ home, personality: 'user', stores: { sessions } });
  try {
    expect(await new WaitingApprovals(runtime, 'user').list()).toEqual({
      waiting: [],
      unfinished: [],
      problems: ['only the newest 10000 sessions were looked at'],
    });
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true, force: true });
  }
});
