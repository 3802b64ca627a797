import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openFleet, type Place } from './agent.js';
import { says, startPostgres, startRedis, stop } from './servers.js';

// Agents on three workers that are killed at random. Each effect happens once, or somebody is told.
// `main.ts 200` runs 200 agents.

const asked = Number(process.argv[2]);
const agents = Number.isInteger(asked) && asked > 0 ? asked : 6;
const WORKERS = 3;
const kills = Math.max(1, Math.floor(agents / 20));

const top = mkdtempSync(join(tmpdir(), 'fleet-example-'));
const postgres = await startPostgres();
const redis = await startRedis(join(top, 'redis'));
const place: Place = {
  home: join(top, 'home'),
  effects: join(top, 'effects'),
  postgres: postgres.address,
  redis: redis.address,
};
mkdirSync(place.effects);
mkdirSync(join(place.home, 'personalities', 'packer'), { recursive: true });
writeFileSync(
  join(place.home, 'personalities', 'packer', 'config.yaml'),
  `name: Packer\nfs_reach:\n  write: [${JSON.stringify(place.effects)}]\n`,
);

async function startWorker(): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./worker.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), script, JSON.stringify(place)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await says(child, child.stdout, 'ready');
  return child;
}

const { agent, fleet, close } = await openFleet(place);
const workers = await Promise.all(Array.from({ length: WORKERS }, startWorker));
try {
  const startedAt = performance.now();
  const open = new Map<string, string>();
  for (let n = 0; n < agents; n++) {
    const sessionId = `parcel-${n}`;
    open.set(await fleet.enqueue({ sessionId, prompt: `p${n}`, tenant: `t${n % 3}` }), sessionId);
  }
  let killed = 0;
  let approvals = 0;
  while (open.size > 0) {
    for (const [id, sessionId] of open) {
      const turn = await fleet.turn(id);
      if (turn?.state === 'paused') {
        for (const approval of await agent.loop.pending(sessionId)) {
          await fleet.decide(agent, { sessionId, ...approval }, { approved: true, by: 'ada' });
          approvals += 1;
        }
      }
      if (turn?.state !== 'done') continue;
      open.delete(id);
      // Somewhere in the middle of the rest.
      if (killed < kills && open.size <= agents - ((killed + 1) * agents) / (kills + 1)) {
        const at = Math.floor(Math.random() * workers.length);
        const victim = workers[at];
        if (victim !== undefined) await stop(victim, 'SIGKILL');
        workers[at] = await startWorker();
        killed += 1;
      }
    }
    await sleep(50);
  }
  const seconds = (performance.now() - startedAt) / 1_000;

  const effects = readdirSync(place.effects).map((name) => name.split('.')[0] ?? '');
  let once = 0;
  let told = 0;
  for (let n = 0; n < agents; n++) {
    const messages = await agent.runtime.sessions.messages(`parcel-${n}`);
    const results = messages.filter(({ role }) => role === 'tool');
    assert.equal(results.length, 3);
    for (const [at, { text, toolName }] of results.entries()) {
      const times = effects.filter((name) => name === `${toolName}-p${n}-${at}`).length;
      if (text.includes('may have run')) {
        assert.ok(times <= 1);
        told += 1;
      } else {
        assert.equal(times, 1, `${toolName} of parcel-${n}: ${text}`);
        once += 1;
      }
    }
  }
  assert.equal(once + told, agents * 3);
  const { turns } = await fleet.health();
  assert.equal(turns.done, agents);
  process.stdout.write(
    [
      `${agents} agents on ${WORKERS} workers, ${killed} of them killed at random; ${approvals} approvals`,
      `${agents * 3} effects: ${once} happened exactly once, ${told} were told as what may have run`,
      `${(agents / seconds).toFixed(1)} turns a second`,
      '',
    ].join('\n'),
  );
} finally {
  await Promise.all(workers.map((worker) => stop(worker, 'SIGTERM')));
  await close();
  await redis.stop();
  await postgres.stop();
  rmSync(top, { recursive: true, force: true });
}
