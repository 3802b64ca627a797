import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder, isLongRun } from '@ethosagent/test-support';
import { expect, it, onTestFinished } from 'vitest';
import { attempt } from './contest.js';
import { Meter } from './driver.js';
import { ours } from './ours.js';
import { serveSite } from './site.js';
import { TASKS } from './tasks.js';

const CHROMIUM = '/usr/bin/chromium-headless-shell';

it('there are 32 tasks or more, each with a name of its own', () => {
  const names = new Set(TASKS.map(({ name }) => name));
  expect(names.size).toBe(TASKS.length);
  expect(names.size).toBeGreaterThanOrEqual(32);
});

it('a meter counts calls, and the tokens of what is said and answered', async () => {
  const meter = new Meter((text) => text.length);
  await meter.call('x', {}, async () => ({ text: 'four', isError: false }));
  const failed = meter.call('x', {}, async () => ({ text: 'no', isError: true }));
  await expect(failed).rejects.toThrow('no');
  expect(meter.count()).toMatchObject({
    calls: 2,
    tokens: 6 + 2 * '{"name":"x","args":{}}'.length,
  });
  meter.begin();
  expect(meter.count().calls).toBe(0);
});

it.runIf(isLongRun() && existsSync(CHROMIUM))('our tools do every task', async () => {
  const { dir, remove } = createTestFolder('quality-browser');
  const site = await serveSite();
  mkdirSync(dir, { recursive: true });
  const file = { path: join(dir, 'notes.txt'), text: 'the notes' };
  writeFileSync(file.path, file.text);
  const driver = ours({ folder: dir, host: site.host, chromium: CHROMIUM, tokensOf: () => 0 });
  onTestFinished(async () => {
    await driver.close();
    await site.close();
    remove();
  });
  for (const task of TASKS) {
    expect([task.name, await attempt(task, driver, { site, file })]).toMatchObject([
      task.name,
      { isDone: true },
    ]);
  }
});
