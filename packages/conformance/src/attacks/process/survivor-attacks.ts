import { randomUUID } from 'node:crypto';
import { countTries, inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningScript } from '../run-script.js';
import { type CreateCall, marked, NO_FILES, pause, survivors } from './attacked-call.js';
import { LINGERERS } from './lingerers.js';

const WAYS = ['a time-out', 'an abort', 'the end of its call'] as const;

/**
 * Starts a host in a process of its own, with the mark in the arguments of that process. The host
 * runs `sh -c <program> sh <mark>`, with the mark also in the variable `ATTACK_MARK`.
 */
export type StartHost = (program: string, mark: string) => RunningScript;

/**
 * Tests that no process is left one second after a time-out, an abort, or the end of a call or of
 * the host.
 */
export function survivorAttacks(
  create: CreateCall,
  { holdsAll, startHost }: { holdsAll: boolean; startHost: StartHost | undefined },
): void {
  const lingerers = LINGERERS.filter(({ untraceable }) => holdsAll || untraceable !== true);

  /** Runs a program, and ends it after some milliseconds. Settles when the end was reported. */
  async function attack(
    program: string,
    mark: string,
    { way, ms }: { way: (typeof WAYS)[number]; ms: number },
  ) {
    const call = create(NO_FILES);
    const run = call.process.spawn('sh', ['-c', program, 'sh', mark], {
      env: marked(mark),
      ...(way === 'a time-out' && { timeout: ms }),
    });
    const ended = run.catch((error: unknown) => error);
    if (way !== 'a time-out') {
      await pause(ms);
      if (way === 'an abort') call.abort();
    } else {
      await ended;
    }
    call.end();
    await ended;
  }

  describe('leaves nobody behind a second after', () => {
    const all = WAYS.flatMap((way) => lingerers.map((each, at) => ({ way, at, ...each })));
    // A check tries each program in only one way, and takes all ways in turn. A sandbox ends all
    // programs alike, so there the last ones stand for the others.
    const first = holdsAll ? lingerers.length - WAYS.length : 0;
    const cases = inCheck(all, ({ way, at }) => way === pick(WAYS, at) && at >= first);
    const marks = cases.map(() => randomUUID());
    // All at the same time, since each takes a second and a half, whatever the others do.
    beforeAll(async () => {
      await Promise.all(
        cases.map(({ way, program }, index) =>
          attack(program, marks[index] ?? '', { way, ms: 400 }),
        ),
      );
      await pause(1000);
    });
    it.for(
      cases.map(({ way, does }, index) => [`${way}, of a tree that ${does}`, marks[index] ?? '']),
    )('%s', ([, mark = ''], context) => {
      expect(survivors(mark)).toEqual([]);
      countTries(context, 'processes', 1);
    });
  });

  it.runIf(isLongRun() || !holdsAll)(
    'leaves no process, of any program, at any end',
    async (context) => {
      const rounds = tries({ check: 10, long: 500 });
      const atOnce = 10;
      for (let begun = 0; begun < rounds; begun += atOnce) {
        const mark = randomUUID();
        await Promise.all(
          Array.from({ length: Math.min(atOnce, rounds - begun) }, (_, index) => {
            const round = begun + index;
            const { program } = pick(lingerers, round);
            // From before the program begins until after it has started its processes.
            return attack(program, mark, {
              way: pick(WAYS, round * 7 + 1),
              ms: 1 + ((round * 37) % 350),
            });
          }),
        );
        await pause(1000);
        expect(survivors(mark)).toEqual([]);
      }
      countTries(context, 'processes', rounds);
    },
  );

  if (startHost === undefined) return;
  const hosted = isLongRun() ? lingerers : lingerers.slice(-1);
  it.for(hosted.map(({ does, program }) => [does, program]))(
    'leaves nobody behind a second after its host was killed, of a tree that %s',
    async ([, program = ''], context) => {
      const rounds = tries({ check: 1, long: 30 });
      for (let round = 0; round < rounds; round++) {
        const mark = randomUUID();
        const host = startHost(program, mark);
        // Waits for the host and for a process that it started.
        while (survivors(mark).length < 2 && host.child.exitCode === null) await pause(10);
        await pause((round * 53) % 400);
        host.child.kill('SIGKILL');
        const { errors } = await host.ended;
        await pause(1000);
        expect({ errors, left: survivors(mark) }).toEqual({ errors: '', left: [] });
      }
      countTries(context, 'processes', rounds);
    },
  );
}

function pick<T>(list: readonly T[], at: number): T {
  const item = list[at % list.length];
  if (item === undefined) throw new RangeError('an empty list');
  return item;
}
