import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startScript } from '@ethosagent/conformance/attacks';
import { bundleScript, countTries, tries } from '@ethosagent/test-support';
import { afterAll, expect, it, vi } from 'vitest';
import type { AuditProblem } from './audit-report.js';
import { verifyAuditLog } from './verify-audit-log.js';

const root = mkdtempSync(join(tmpdir(), 'killed-audit-'));
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const recorder = await bundleScript(new URL('./fixtures/record-until-killed.ts', import.meta.url));

/** Lets another process record, and kills it. Returns what it recorded. */
async function recordAndKill(
  path: string,
  id: string,
  { maxBytes = 10_000_000, maxFiles = 1_000, atOnce = 1 },
): Promise<string[]> {
  const acknowledged = join(root, `acknowledged-${id}`);
  writeFileSync(acknowledged, '');
  const { child, ended } = startScript(recorder, {
    args: [path, id, acknowledged, `${maxBytes}`, `${maxFiles}`, `${atOnce}`],
  });
  running.add(child);
  await vi.waitUntil(() => statSync(acknowledged).size > 0 || child.exitCode !== null, {
    timeout: 60_000,
    interval: 2,
  });
  await delay(Math.random() * 15);
  child.kill('SIGKILL');
  expect(await ended).toEqual({ code: null, signal: 'SIGKILL', errors: '' });
  running.delete(child);
  return readFileSync(acknowledged, 'utf8').split('\n').slice(0, -1);
}

/** The targets of the events in a log, in the order of the log. */
function eventsOf(log: string): string[] {
  return readdirSync(dirname(log))
    .filter((name) => name === basename(log) || /^\.\d+$/.test(name.slice(basename(log).length)))
    .flatMap((name) =>
      readFileSync(join(dirname(log), name), 'utf8')
        .split('\n')
        .slice(0, -1),
    )
    .map((line): { seq: number; target: string } => JSON.parse(line))
    .sort((a, b) => a.seq - b.seq)
    .map(({ target }) => target.replace(/:x*$/, ''));
}

/** The problems of a log, without a line that the kill cut off. */
async function problemsOf(log: string): Promise<AuditProblem[]> {
  const { problems, unfinishedBytes = 0 } = await verifyAuditLog({ path: log });
  if (unfinishedBytes === 0) return problems;
  return problems.filter(({ file, what }) => file !== log || what !== 'malformed');
}

const KILLS = tries({ check: 2, nightly: 40, long: 500 });
const KILLS_A_LOG = 10;
const LONGEST_MS = 3_600_000;

it.for([1, 40])(
  `JsonlAuditSink loses nothing that was recorded to kill -9, ${KILLS} times, %i events at once`,
  { timeout: LONGEST_MS },
  async (atOnce, context) => {
    let recorded: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const log = join(root, `${atOnce}-${Math.floor(kill / KILLS_A_LOG)}`, 'audit.jsonl');
      if (kill % KILLS_A_LOG === 0) recorded = [];
      // Every second process rotates the log all the time.
      const limits = kill % 2 === 0 ? {} : { maxBytes: 3_000 };
      const id = `${atOnce}-${kill}`;
      recorded.push(...(await recordAndKill(log, id, { ...limits, atOnce })));
      expect(await problemsOf(log)).toEqual([]);
      const found = eventsOf(log);
      // Lines may be in the log although their process was killed before it reported them.
      const kept = new Set(recorded);
      expect(found.filter((target) => kept.has(target))).toEqual(recorded);
      expect(found.length).toBeLessThanOrEqual(
        recorded.length + ((kill % KILLS_A_LOG) + 1) * atOnce,
      );
      if (kill % KILLS_A_LOG === KILLS_A_LOG - 1) rmSync(dirname(log), { recursive: true });
    }
    countTries(context, 'audit', KILLS);
  },
);

it(
  'JsonlAuditSink keeps its chain when it is killed while rotation drops files',
  async (context) => {
    const kills = tries({ check: 1, nightly: 20, long: 100 });
    const log = join(root, 'dropping', 'audit.jsonl');
    for (let kill = 0; kill < kills; kill++) {
      const limits = { maxBytes: 3_000, maxFiles: 2 };
      const recorded = await recordAndKill(log, String(kill), limits);
      expect(await problemsOf(log)).toEqual([]);
      expect(eventsOf(log)).toContain(recorded.at(-1));
    }
    countTries(context, 'audit', kills);
  },
  LONGEST_MS,
);

it.each([1, 40])(
  'verifyAuditLog finds nothing wrong while another process writes %i events at once, and rotates',
  async (atOnce) => {
    const log = join(root, `live-${atOnce}`, 'audit.jsonl');
    const acknowledged = join(root, `acknowledged-live-${atOnce}`);
    const { child, ended } = startScript(recorder, {
      args: [log, 'live', acknowledged, '3000', '3', `${atOnce}`],
    });
    running.add(child);
    await vi.waitUntil(() => existsSync(`${log}.3`), { timeout: 60_000, interval: 2 });
    for (let round = 0; round < tries({ check: 20, long: 50 }); round++) {
      expect((await verifyAuditLog({ path: log })).problems).toEqual([]);
    }
    child.kill('SIGKILL');
    await ended;
    running.delete(child);
  },
);
