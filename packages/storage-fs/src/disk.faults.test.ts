import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript, type ScriptOptions } from '@ethosagent/conformance/attacks';
import { bundleScript, inCheck, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { everyCall } from './fixtures/every-call.js';

const CALLS = Object.keys(everyCall('/nowhere'));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'disk-faults-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function run(fixture: string, args: string[], conditions: ScriptOptions = {}) {
  const file = await bundleScript(new URL(`./fixtures/${fixture}.ts`, import.meta.url));
  const lines = await runScript(file, { ...conditions, args });
  return lines.map((line) => JSON.parse(line));
}

/** The errors of secrets name a fault by its code, and never contain a path. */
function expected(call: string, code: string, advice: string): string {
  if (!call.startsWith('secrets')) return `^${code}: (read|write) ${dir}/.*: .*${advice}`;
  return `^SECRETS_UNAVAILABLE: (ref|new|old|the list of refs): the secrets folder failed \\(${code}\\); .{15}`;
}

const isChange = (call: string) =>
  !/ (get|has|list|listEntries|read|readBytes|exists|mtime)$/.test(call);

describe('storage on a faulty disk', () => {
  const smallDisk = () => ({ smallDisk: { at: dir, kilobytes: 2_000 } });
  const faults: [
    fault: string,
    code: string,
    advice: string,
    conditions: () => ScriptOptions,
    fails: (call: string) => boolean,
  ][] = [
    [
      'full',
      'DISK_FULL',
      'free some and try again',
      smallDisk,
      (call) => / (put|set|replace|write|append)$/.test(call),
    ],
    ['read-only', 'READ_ONLY', 'choose another place', smallDisk, isChange],
    ['forbidden', 'PERMISSION_DENIED', 'check the owner and mode', () => ({}), () => true],
    [
      'descriptors',
      'STORAGE_FAILED',
      'try again when some are closed',
      () => ({ openFiles: 64 }),
      // This call opens nothing.
      (call) => call !== 'secrets has',
    ],
  ];

  // `errno.test.ts` has what each error of the system becomes.
  it.each(inCheck(faults, ([fault]) => fault === 'full'))(
    'fault %s: each call that it meets is %s, nothing is half done, and all work afterwards',
    async (fault, code, advice, conditions, fails) => {
      const [{ failed, recovered, before, after }] = await run(
        'faults',
        [fault, dir],
        conditions(),
      );
      expect(Object.keys(failed)).toEqual(CALLS);
      for (const call of CALLS) {
        if (fails(call)) expect(failed[call]).toMatch(new RegExp(expected(call, code, advice)));
        else expect(failed[call], call).toBe('ok');
        expect(recovered[call], call).toBe('ok');
      }
      // What was possible was done. Of the rest, there is not even an empty file. But appended
      // bytes stay, even if incomplete, since others may have added to the file.
      const added = after.filter((line: string) => !before.includes(line));
      if (fault === 'full') {
        const done = added.map((line: string) =>
          line.slice(dir.length + 1).replace(/-log \d+$/, '-log'),
        );
        expect(done).toEqual([
          'attachments/5a/',
          'contained-folder/',
          'contained-log',
          'contained-moved 11',
          'plain-folder/',
          'plain-log',
          'plain-moved 11',
        ]);
        expect(after).toContain(join(dir, 'file 11'));
      } else {
        expect(after).toEqual(before);
      }
    },
  );

  it('a write that loses its permission midway leaves the old content, and later no trace', async () => {
    const [facts] = await run('permission-midway', [dir]);
    expect(facts).toEqual({
      outcome: expect.stringMatching(/^EthosError: PERMISSION_DENIED: write .*folder\/file: /),
      kept: 'old',
      listed: ['file'],
      after: ['file', 'other'],
    });
  });

  it.runIf(isLongRun())(
    'with 0 to 6 descriptors left a call works or says so, and leaks none',
    async () => {
      const step = isLongRun() ? 1 : 6;
      const rounds = await run('few-descriptors', [dir, String(step)], { openFiles: 64 });
      expect(rounds).toHaveLength(6 / step + 1);
      for (const { failed, temporary } of rounds) {
        expect(temporary).toEqual([]);
        for (const [call, message] of Object.entries(failed)) {
          const text = expected(call, 'STORAGE_FAILED', 'try again when some are closed');
          expect(message).toMatch(new RegExp(text));
          expect(message).not.toContain('leaked');
        }
      }
      expect(Object.keys(rounds[0].failed).length).toBeGreaterThan(20);
      expect(rounds.at(-1).failed).toEqual({});
    },
  );
});
