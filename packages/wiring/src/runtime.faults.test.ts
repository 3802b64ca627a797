import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runScript, type ScriptOptions } from '@ethosagent/conformance/attacks';
import { bundleScript, inCheck, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const faults = await bundleScript(new URL('./fixtures/faults.ts', import.meta.url));

let world: string;
let home: string;
beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-faults-')));
  home = join(world, 'home');
  const file = join(home, 'personalities', 'coder', 'config.yaml');
  mkdirSync(dirname(file), { recursive: true });
  mkdirSync(join(world, 'work'));
  writeFileSync(file, 'name: Coder\nfs_reach:\n  read: ["${CWD}"]\n  write: ["${CWD}"]\n');
});
afterEach(() => rmSync(world, { recursive: true, force: true }));

async function run(fault: string, conditions: ScriptOptions = {}) {
  const [line = ''] = await runScript(faults, {
    ...conditions,
    args: [fault, world],
  });
  return JSON.parse(line);
}

describe('createToolRuntime in a home that can not be written', () => {
  it.each(
    inCheck(
      [
        [
          'a read-only home',
          'unwritable',
          /^(STORE_UNAVAILABLE|CONFIG_INVALID): .*(may write|can write)/,
        ],
        ['a home without permission', 'forbidden', /^CONFIG_INVALID: .*config\.yaml/],
      ],
      ([what]) => what.startsWith('a read-only'),
    ),
  )(
    '%s: refused with what to do, nothing is left open or made, and it starts when that is repaired',
    async (_, fault, message) => {
      chmodSync(world, 0o755);
      const facts = await run(fault);
      expect(facts.refused).toMatch(message);
      expect(facts.open).toEqual([]);
      expect(facts.made).toEqual(['personalities']);
      expect(facts.started).toBe('ok 1');
    },
  );
});

describe('ToolRuntime on a full disk', () => {
  it('refuses each access that can not be recorded or done, loses nothing, and goes on when there is space', async () => {
    const personality = readFileSync(join(home, 'personalities', 'coder', 'config.yaml'), 'utf8');
    rmSync(home, { recursive: true });
    mkdirSync(home);
    writeFileSync(join(world, 'coder.yaml'), personality);
    const facts = await run('full', { smallDisk: { at: home, kilobytes: 1_000 } });
    for (const refusal of facts.refusals) {
      expect(refusal).toMatch(/^(AUDIT_FAILED|STORE_UNAVAILABLE|DISK_FULL): .*(again|free)/);
    }
    expect(facts.refusals.length).toBeGreaterThan(0);
    const withheld = facts.refusals.filter((text: string) => text.includes('has run'));
    const count = Number(/^ok (\d+)$/.exec(facts.count)?.[1]);
    expect(count).toBeGreaterThan(facts.acknowledged);
    // A call that ran and could not be recorded may also have counted.
    expect(count).toBeLessThanOrEqual(facts.acknowledged + withheld.length + 1);
    expect(facts.audit).toMatchObject({ ok: true, problems: [] });
    expect(readdirSync(join(world, 'work'))).toEqual([]);
  });
});

describe('ToolRuntime while its descriptors are used up', () => {
  it('answers every call with a typed refusal, and works when there are some', async () => {
    const facts = await run('descriptors', { openFiles: 128 });
    expect(facts.answers).toHaveLength(4);
    for (const answer of facts.answers) expect(answer).toMatch(/^(ok|[A-Z_]+: .+)/);
    expect(facts.answers[0]).toMatch(/^(STORAGE_FAILED|CONFIG_INVALID): /);
    expect(facts.after).toEqual(['ok notes', expect.stringMatching(/^ok \d+$/)]);
  });
});

describe('ToolRuntime while the clock goes back', () => {
  it.runIf(isLongRun())('keeps its personality, its store and the order of its log', async () => {
    const facts = await run('clock');
    expect(facts.answers).toEqual(['ok 1', 'ok 2', 'ok 3']);
    expect(facts.audit).toMatchObject({ ok: true, problems: [] });
  });
});
