import { errorOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, tries, withEnoughTime } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createCodeWorld } from './fixtures/code-world.js';

const DENIALS: readonly [tool: string, args: object, code: string, says: string][] = [
  ['lint', { path: '../outside' }, 'execution_failed', 'PATH_NOT_REACHABLE'],
  ['lint', { path: '/etc/passwd' }, 'execution_failed', 'PATH_NOT_REACHABLE'],
  ['typecheck', { path: '..' }, 'execution_failed', 'PATH_NOT_REACHABLE'],
  ['run_tests', { path: 'a\0b' }, 'execution_failed', 'PATH_'],
  ['lint', { path: 'nowhere.ts' }, 'input_invalid', 'nothing at nowhere.ts'],
  ['lint', { path: '' }, 'input_invalid', 'path'],
  ['lint', { runner: 'tslint' }, 'input_invalid', 'runner'],
  ['lint', { fix: 'yes' }, 'input_invalid', 'fix'],
  ['lint', {}, 'not_available', 'found no sign of biome'],
  ['typecheck', {}, 'not_available', 'found no sign of tsc'],
  ['run_tests', {}, 'not_available', 'found no sign of vitest'],
  ['run_tests', { filter: '--help' }, 'input_invalid', 'dash'],
  ['run_tests', { filter: 'a\0' }, 'input_invalid', 'NUL'],
  ['run_tests', { timeout_ms: 1 }, 'input_invalid', 'timeout_ms'],
  ['run_tests', { timeout_ms: 1e9 }, 'input_invalid', 'timeout_ms'],
  ['run_tests', { runner: 'vitest' }, 'not_available', 'is not installed'],
  ['run_code', {}, 'input_invalid', 'language'],
  ['run_code', { language: 'perl', code: 'x' }, 'input_invalid', 'language'],
  ['run_code', { language: 'python', code: '' }, 'input_invalid', 'code'],
  ['run_code', { language: 'python', code: 'a\0' }, 'input_invalid', 'NUL'],
  ['run_code', { language: 'bash', code: 'cat', stdin: '\0' }, 'input_invalid', 'stdin'],
  ['run_code', { language: 'bash', code: 'x'.repeat(100_001) }, 'input_invalid', 'code'],
  ['run_code', { language: 'bash', code: 'x', timeout_ms: 600_000 }, 'input_invalid', 'timeout_ms'],
];

describe('denials', () => {
  it.each(DENIALS)('%s %j -> %s', async (tool, args, code, says) => {
    const world = createCodeWorld();
    const result = await world.run(tool, args);
    expect(result).toMatchObject({ ok: false, code });
    expect(errorOf(result)).toContain(says);
    expect(world.audit.events.some(({ capability }) => capability === 'process')).toBe(false);
  });

  it.each(['lint', 'typecheck', 'run_tests'])(
    '%s of invalid settings is not available',
    async (tool) => {
      const world = createCodeWorld({ settings: { runner: 'nonsense' } });
      expect(await world.run(tool, {})).toMatchObject({ ok: false, code: 'not_available' });
    },
  );
});

describe('the end of a run', () => {
  const project = (program: string, settings?: object) => {
    const world = createCodeWorld(settings === undefined ? {} : { settings });
    world.put('conftest.py', '');
    world.put('ruff.toml', '');
    for (const name of ['python3', 'ruff']) world.putBinary(name, program);
    return world;
  };

  it.each(
    inCheck(
      [
        ['lint', 'ruff'],
        ['run_tests', 'python3'],
      ],
      ([tool]) => tool === 'lint',
    ),
  )('%s that does not end is stopped, and what it said is told', async (tool) => {
    const world = project('echo "waiting for godot" >&2; sleep 60');
    const result = await withEnoughTime(
      (timeoutMs) => world.run(tool, { timeout_ms: 2 * timeoutMs }),
      (result) => errorOf(result).includes('godot'),
    );
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(errorOf(result)).toMatch(/within \d+ s[\s\S]*waiting for godot/);
  });

  it('a time of the settings counts where the call names none', async () => {
    const result = await project('sleep 60', { default_timeout_ms: 1_000 }).run('run_tests', {});
    expect(errorOf(result)).toContain('within 1 s');
  });

  it('the turn’s abort ends it', async () => {
    const turn = new AbortController();
    const world = project('sleep 60');
    const running = world.run('run_tests', {}, { abortSignal: turn.signal });
    setTimeout(() => turn.abort(), 300);
    expect(await running).toMatchObject({ ok: false, code: 'execution_failed' });
  });

  it.each(
    inCheck(
      [
        ['lint', 'yes'],
        ['run_tests', 'yes >&2'],
        ['run_tests', 'tr "\\\\0" x </dev/zero'],
      ],
      ([tool]) => tool === 'lint',
    ),
  )('%s that prints for ever (%s) is stopped, in bounded memory', async (tool, program) => {
    const before = process.memoryUsage().rss;
    const result = await project(program).run(tool, {
      timeout_ms: tries({ check: 1_000, long: 5_000 }),
    });
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
  });

  it.each(
    inCheck(
      [
        ['lint', 'ruff', `echo '{"version":"2.1.0","runs":[]}'; echo 'it broke' >&2; exit 2`],
        [
          'typecheck',
          'cargo',
          `echo '{"reason":"build-finished","success":false}'; echo 'it broke' >&2; exit 101`,
        ],
      ],
      ([tool]) => tool === 'lint',
    ),
  )(
    '%s that reports nothing and fails is a failure, in its own words',
    async (tool, name, program) => {
      const world = createCodeWorld();
      world.put(name === 'ruff' ? 'ruff.toml' : 'Cargo.toml', '');
      world.putBinary(name, program);
      const result = await world.run(tool, {});
      expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
      expect(errorOf(result)).toMatch(/though it reported nothing[\s\S]*it broke/);
    },
  );

  it('an error of no file is told after warnings', async () => {
    const world = createCodeWorld();
    world.put('Cargo.toml', '');
    const message = (level: string, text: string) =>
      JSON.stringify({
        reason: 'compiler-message',
        message: { level, message: text, spans: [], children: [] },
      });
    const lines = [
      message('warning', 'unused'),
      message('error', 'linking with cc failed'),
      message('error', 'aborting due to 1 previous error'),
      '{"reason":"build-finished","success":false}',
    ];
    world.put('output.jsonl', lines.join('\n'));
    world.putBinary('cargo', `cat '${world.dir}/output.jsonl'; exit 101`);
    const result = await world.run('typecheck', {});
    expect(result).toMatchObject({
      ok: true,
      structured: { errors: 1, warnings: 1, passed: false },
    });
  });

  it('exit code 1 is no success, though every test passed', async () => {
    const world = createCodeWorld();
    world.put('package.json', '{"scripts":{"test":"node --test"}}');
    world.put(
      'a.test.js',
      "require('node:test')('passes', () => {}); process.on('exit', () => { process.exitCode = 3; });",
    );
    const result = await world.run('run_tests', {});
    const passed = result.ok && result.structured?.passed === true;
    expect(passed).toBe(false);
  });
});
