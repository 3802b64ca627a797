import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { contest } from './contest.js';
import { layTask } from './task.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'programs-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('one program finds the answer, and the model is sent less than by calls of its own', async () => {
  const task = layTask(folder, 12);
  const rows = await contest(folder, task, (text) => text.length);
  const [calls, atOnce, program] = rows;
  expect(rows.map(({ steps }) => steps)).toEqual([13, 2, 2]);
  expect(program?.lastResult).toBe(task.answer);
  expect(Number(program?.input)).toBeLessThan(Number(atOnce?.input));
  expect(Number(atOnce?.input)).toBeLessThan(Number(calls?.input));
});
