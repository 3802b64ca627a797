import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import {
  isLongRun,
  newPostgresDatabase,
  runTimeoutMs,
  startPostgres,
  tries,
} from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createFleetWorld,
  type FleetWorld,
  until,
  type WorkerProcess,
} from './fixtures/fleet-world.js';

const timeout = runTimeoutMs();

describe('a worker', () => {
  let world: FleetWorld;
  beforeAll(async () => {
    world = await createFleetWorld(await newPostgresDatabase(), { leaseMs: 60_000 });
  });
  afterAll(() => world.close());

  it('runs a turn, waits for a decision without a lease, and is taken over when it is killed', {
    ...(timeout !== undefined && { timeout }),
  }, async () => {
    const { fleet, agent, turns } = world;
    const first = await world.startWorker();
    const id = await fleet.enqueue({ sessionId: 's1', prompt: 's1 append guarded slow' });
    await world.reaches(id, 'paused');
    expect(world.effects()).toEqual(['s1-1-0']);
    // Nobody holds the session, so another process could.
    const held = await agent.loop.hold('s1', 1_000);
    expect(held).toBeDefined();
    if (held !== undefined) await agent.loop.release(held);

    const [approval] = await agent.loop.pending('s1');
    if (approval === undefined) throw new Error('nothing waits');
    await fleet.decide(agent, { sessionId: 's1', ...approval }, { approved: true });
    const other = fleet.decide(agent, { sessionId: 's1', ...approval }, { approved: false });
    expect(await other.catch(errorCodeOf)).toMatch(/^ALREADY_DECIDED$|^TURN_INVALID$/);
    expect(await until(() => world.began('s1-1-2'))).toBe(first.pid);
    await first.end('SIGKILL');

    // For this worker, the lease of the first one has ended.
    await world.startWorker({ aheadMs: 600_000 });
    expect(await world.reaches(id, 'done', 'failed')).toMatchObject({ state: 'done', losses: 1 });
    // A call that had begun was reported, and did not run again.
    expect(world.effects().sort()).toEqual(['s1-1-0', 's1-1-1']);
    const messages = await world.sessions.messages('s1');
    expect(messages.filter(({ role }) => role === 'tool').map(({ text }) => text)).toEqual([
      'wrote s1-1-0',
      'wrote s1-1-1',
      expect.stringContaining('It may have run'),
    ]);
    const types: string[] = [];
    for await (const { event } of fleet.watch('s1')) {
      types.push(event.type);
      if (event.type === 'done' && event.end === 'answered') break;
    }
    expect(types).toContain('approval');
    expect(await turns.counts()).toMatchObject({ done: 1, running: 0, waiting: 0 });
  });
});

describe.runIf(isLongRun())('workers that are hit', () => {
  let world: FleetWorld;
  beforeAll(async () => {
    world = await createFleetWorld(await newPostgresDatabase(), { leaseMs: 5_000 });
  });
  afterAll(() => world.close());

  it('a zombie that comes back is refused before its next effect', {
    timeout: 3_600_000,
  }, async () => {
    const zombie = await world.startWorker();
    const id = await world.fleet.enqueue({ sessionId: 'z', prompt: 'z slow append' });
    await until(() => world.began('z-1-0'));
    zombie.signal('SIGSTOP');
    const next = await world.startWorker();
    await world.reaches(id, 'done');
    world.letGo();
    zombie.signal('SIGCONT');
    await until(() => zombie.said.find(({ type }) => type === 'refused'));
    expect(zombie.said).toContainEqual({ type: 'refused', line: 'z-1-0', code: 'SESSION_TAKEN' });
    expect(world.effects()).toEqual(['z-1-1']);
    await Promise.all([zombie, next].map((worker) => worker.end('SIGTERM')));
  });

  it('a call with a key runs again, under the same key', { timeout: 3_600_000 }, async () => {
    world.holdBack();
    const first = await world.startWorker();
    const id = await world.fleet.enqueue({ sessionId: 'k', prompt: 'k keyed' });
    await until(() => world.began('k-1-0'));
    await first.end('SIGKILL');
    world.letGo();
    const next = await world.startWorker();
    await world.reaches(id, 'done');
    expect(world.effects().filter((name) => name === 'k-1-0')).toHaveLength(1);
    const messages = await world.sessions.messages('k');
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([{ text: 'wrote k-1-0' }]);
    await next.end('SIGTERM');
    expect(next.said.at(-1)).toMatchObject({ type: 'closed' });
  });

  it('turns survive a Redis that is emptied and one that is restarted', {
    timeout: 3_600_000,
  }, async () => {
    const { fleet, engine, redis } = world;
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) {
      ids.push(await fleet.enqueue({ sessionId: `r${n}`, prompt: `r${n} append` }));
    }
    await engine.queue.obliterate({ force: true });
    await redis.end('SIGKILL');
    ids.push(await fleet.enqueue({ sessionId: 'away', prompt: 'away append' }));
    await redis.start();
    await world.startWorker();
    for (const id of ids) await world.reaches(id, 'done');
    for (const session of [...Array.from({ length: 10 }, (_, n) => `r${n}`), 'away']) {
      await happenedOrTold(world, session, 1);
    }
  });

  it('every effect happens once, or is told, whoever is killed', {
    timeout: 3_600_000,
  }, async () => {
    const { fleet } = world;
    const count = tries({ check: 40, long: 200 });
    const before = (await world.turns.counts()).done;
    const workers: WorkerProcess[] = [];
    for (let n = 0; n < 3; n++) workers.push(await world.startWorker({ concurrency: 4 }));
    const ids = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        fleet.enqueue({ sessionId: `m${n}`, prompt: `m${n} append append append` }),
      ),
    );
    let kills = 0;
    const isOver = () =>
      world.turns.counts().then(
        ({ done }) => done >= before + count,
        () => false,
      );
    while (!(await isOver()) && kills < 20) {
      const victim = workers[kills % workers.length];
      await victim?.end('SIGKILL');
      workers[kills % workers.length] = await world.startWorker({ concurrency: 4 });
      kills += 1;
    }
    for (const [n, id] of ids.entries()) {
      const { state, message } = await world.reaches(id, 'done', 'failed');
      expect(state, message).toBe('done');
      await happenedOrTold(world, `m${n}`, 3);
    }
  });

  it('shows its queue to Bull Board', async () => {
    const adapter = new BullMQAdapter(world.engine.queue);
    expect(await adapter.getJobCounts()).toMatchObject({ failed: 0 });
    const [job] = await adapter.getJobs(['completed'], 0, 1);
    expect(job?.toJSON()).toMatchObject({ name: expect.stringMatching(/^turn$|^wake$/) });
  });
});

describe.runIf(isLongRun())('a worker that is killed', () => {
  let world: FleetWorld;
  beforeAll(async () => {
    world = await createFleetWorld(await newPostgresDatabase(), { leaseMs: 60_000 });
    world.letGo();
  });
  afterAll(() => world.close());

  it.each([
    ['before', true],
    ['after', false],
  ])(
    '%s any of its appends leaves a turn that another one ends',
    {
      timeout: 3_600_000,
    },
    async (when, isBefore) => {
      let survived = false;
      let append = 1;
      for (; !survived; append++) {
        const session = `${when}${append}`;
        const prompt = `${session} append guarded keyed append`;
        // With a turn that waits already, it could die before it says that it has started.
        const doomed = await world.startWorker({ diesAt: { append, isBefore } });
        const id = await world.fleet.enqueue({ sessionId: session, prompt });
        const state = await decidedUntil(world, { id, session }, () => doomed.isOver);
        survived = state === 'done';
        // For this worker, the lease of the dead one has ended.
        const next = await world.startWorker({ aheadMs: 600_000 });
        expect(await decidedUntil(world, { id, session }, () => false)).toBe('done');
        await Promise.all([doomed, next].map((worker) => worker.end('SIGKILL')));
        await happenedOrTold(world, session, 4);
        // With its key, the effect happened exactly once, whichever process was killed.
        expect(world.effects().filter((name) => name === `${session}-1-2`)).toHaveLength(1);
      }
      // A turn with four calls has that many appends at which it can be killed.
      expect(append).toBeGreaterThan(12);
    },
  );
});

/**
 * Approves what waits, until the turn has ended or `isOver` returns true. Returns the state of the
 * turn.
 */
async function decidedUntil(
  { fleet, agent }: FleetWorld,
  { id, session }: { id: string; session: string },
  isOver: () => boolean,
): Promise<string> {
  return until(async () => {
    const turn = await fleet.turn(id);
    for (const approval of await agent.loop.pending(session)) {
      if (approval.decision !== undefined) continue;
      await fleet
        .decide(agent, { sessionId: session, ...approval }, { approved: true })
        .catch(() => {});
    }
    if (turn?.state === 'paused') await fleet.wake(session);
    return turn?.state === 'done' || isOver() ? turn?.state : undefined;
  });
}

describe.runIf(isLongRun())('workers whose PostgreSQL crashes', () => {
  it('lose no turn, and run no call twice', { timeout: 3_600_000 }, async () => {
    const postgres = await startPostgres();
    const world = await createFleetWorld(postgres.url, { leaseMs: 5_000 });
    try {
      const ids: string[] = [];
      for (let n = 0; n < 30; n++) {
        const prompt = `d${n} append append append`;
        ids.push(await world.fleet.enqueue({ sessionId: `d${n}`, prompt, maxAttempts: 1_000 }));
      }
      for (let n = 0; n < 3; n++) await world.startWorker({ concurrency: 4 });
      for (let crash = 1; crash <= 4; crash++) {
        await until(() =>
          world.turns.counts().then(
            ({ done }) => done >= crash * 5,
            () => false,
          ),
        );
        await postgres.crash();
        await postgres.start();
      }
      for (const [n, id] of ids.entries()) {
        expect(await world.reaches(id, 'done', 'failed')).toMatchObject({ state: 'done' });
        await happenedOrTold(world, `d${n}`, 3);
      }
    } finally {
      await world.close();
      await postgres.stop();
    }
  });
});

/**
 * Checks that each call of the session's only turn had its effect once, or was reported as one that
 * may have run.
 */
async function happenedOrTold(world: FleetWorld, session: string, calls: number): Promise<void> {
  const messages = await world.sessions.messages(session);
  const told = messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
  expect(told).toHaveLength(calls);
  for (const [at, text] of told.entries()) {
    const times = world.effects().filter((name) => name === `${session}-1-${at}`).length;
    expect(times).toBeLessThanOrEqual(1);
    if (text.startsWith('wrote')) expect(times).toBe(1);
    // The process was killed after the approval was used and before the call began.
    else if (text.includes('the call did not run')) expect(times).toBe(0);
    else expect(text).toContain('It may have run');
  }
}
