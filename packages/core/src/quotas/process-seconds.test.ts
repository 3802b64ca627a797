import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { MemoryAuditSink } from '@ethosagent/audit';
import { countTries, inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { errorCodeOf, type QuotaPolicy, type ToolContext } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { makeTool, ok, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

/** The live processes whose command line contains the mark. */
function alive(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

const secondsFrom = (begin: number) => (performance.now() - begin) / 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts processes through a registry with these quotas. */
function world(personalityQuotas: QuotaPolicy) {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({ personalityQuotas, audit });
  let run: (spawn: (program: string, mark?: string) => Promise<string>) => Promise<unknown>;
  registry.register(
    makeTool(
      'run',
      async (_, ctx: ToolContext) =>
        ok(
          JSON.stringify(
            await run((program, mark = '') =>
              Promise.resolve(ctx.scopedProcess?.spawn('sh', ['-c', program, 'sh', mark])).then(
                (result) => `exit ${result?.exitCode}`,
                (error: unknown) => errorCodeOf(error) ?? String(error),
              ),
            ),
          ),
        ),
      { capabilities: { process: { allowedBinaries: ['sh'] } } },
    ),
  );
  return {
    audit,
    async call(body: typeof run) {
      run = body;
      const result = await runOne(registry, 'run');
      return result.ok ? JSON.parse(result.value) : result.error;
    },
  };
}

describe.concurrent('process_seconds', () => {
  const programs = [
    ['waits', 'sleep 60 # $1'],
    ['traps TERM', 'trap "" TERM; while :; do sleep 0.1; done # $1'],
    ['has children, one in a session of its own', 'setsid sh -c "sleep 60; :" "$1" & sleep 60'],
  ];
  const alike = inCheck(programs, ([what]) => what?.startsWith('has children') === true);
  it.each(alike)('ends a process that %s, and nobody survives', async (_name, program) => {
    const mark = randomUUID();
    const { call, audit } = world({ per_call: { process_seconds: 0.4 } });
    const begin = performance.now();
    let ended = 0;
    let left: string[] = [];
    const outcome = await call(async (spawn) => {
      const outcome = await spawn(program, mark);
      ended = secondsFrom(begin);
      // Still within the call: its end would end the processes anyway.
      await pause(1000);
      left = alive(mark);
      return [outcome, await spawn('true')];
    });
    expect(outcome).toEqual(['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
    expect(ended).toBeGreaterThanOrEqual(0.4);
    expect(left).toEqual([]);
    expect(audit.events).toMatchObject([
      { decision: 'allowed' },
      { decision: 'denied', reason: 'quota per_call.process_seconds' },
    ]);
    expect(audit.events).toHaveLength(2);
  });

  it('ends all that runs when their sum is used up, and starts no more', async (context) => {
    const processes = tries({ check: 8, long: 40 });
    const mark = randomUUID();
    const { call } = world({ per_session: { process_seconds: 4 } });
    // Each process alone would end in time.
    const outcomes = await call((spawn) =>
      Promise.all(Array.from({ length: processes }, () => spawn('sleep 2 # $1', mark))),
    );
    expect(outcomes).toEqual(Array(processes).fill('QUOTA_EXCEEDED'));
    expect(await call((spawn) => spawn('true'))).toBe('QUOTA_EXCEEDED');
    await pause(1000);
    expect(alive(mark)).toEqual([]);
    countTries(context, 'quotas', processes);
  });

  it.runIf(isLongRun())(
    'leaves alone what ends in time, and what it did not use is left',
    async () => {
      const { call } = world({ per_session: { process_seconds: 30 } });
      const run = () =>
        call((spawn) => Promise.all([spawn('exit 3'), spawn('sleep 0.1'), spawn('true')]));
      expect([await run(), await run()]).toEqual([
        ['exit 3', 'exit 0', 'exit 0'],
        ['exit 3', 'exit 0', 'exit 0'],
      ]);
    },
  );

  it('of 0 starts nothing', async () => {
    const { call, audit } = world({ per_call: { process_seconds: 0 } });
    expect(await call((spawn) => spawn('true'))).toBe('QUOTA_EXCEEDED');
    expect(audit.events.map(({ reason }) => reason)).toEqual(['quota per_call.process_seconds']);
  });

  it('is not used by a binary that is refused', async () => {
    const registry = new DefaultToolRegistry({
      personalityQuotas: { per_call: { process_seconds: 0 } },
    });
    registry.register(
      makeTool('t', async (_, ctx) => ok(String(await ctx.scopedProcess?.spawn('cat', []))), {
        capabilities: { process: { allowedBinaries: ['sh'] } },
      }),
    );
    expect(await runOne(registry, 't')).toMatchObject({
      error: expect.stringMatching(/^BINARY_NOT_ALLOWED/),
    });
  });
});
