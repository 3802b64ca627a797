import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { isLongRun, tries, withEnoughTime } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createTerminalWorld } from './fixtures/terminal-world.js';

describe('terminal', () => {
  const cases: [what: string, command: string, value: RegExp, structured: object][] = [
    [
      'output',
      'echo hello',
      /^exit code 0 \(.*\)\nhello$/,
      { exit_code: 0, stdout: 'hello\n', stderr: '' },
    ],
    [
      'both streams apart',
      'echo out; echo err >&2',
      /\nout\n\[stderr\]\nerr$/,
      { stdout: 'out\n', stderr: 'err\n' },
    ],
    ['no output', 'true', /\n\(no output\)$/, { exit_code: 0, truncated: false }],
    [
      'a failure as a result',
      'echo no >&2; exit 3',
      /^exit code 3 /,
      { exit_code: 3, stderr: 'no\n' },
    ],
    [
      'a signal',
      'kill -KILL $$',
      /^ended by SIGKILL, exit code 137/,
      { exit_code: 137, signal: 'SIGKILL' },
    ],
    ['a command that is not there', 'no-such-program', /^exit code 127 /, { exit_code: 127 }],
    ['colours left out', "printf '\\033[1;31mred\\033[0m\\n'", /\nred$/, { stdout: 'red\n' }],
    [
      'the last state of a progress bar',
      "printf '10%%\\r50%%\\r100%%\\n'",
      /\n100%$/,
      { stdout: '100%\n' },
    ],
    ['backspaces', "printf 'abc\\b\\bX\\n'", /\naX$/, { stdout: 'aX\n' }],
    [
      'a window title left out',
      "printf '\\033]0;title\\007text\\n'",
      /\ntext$/,
      { stdout: 'text\n' },
    ],
    ['line ends of Windows', "printf 'a\\r\\nb\\r\\n'", /\na\nb$/, { stdout: 'a\nb\n' }],
    ['NUL and controls left out', "printf 'a\\000b\\001c\\n'", /\nabc$/, { stdout: 'abc\n' }],
    ['a last line without an end', 'printf x', /\nx$/, { stdout: 'x' }],
    ['bash', 'a=(1 2); [[ ${#a[@]} == 2 ]] && echo yes', /\nyes$/, {}],
    ['no start-up files', 'shopt -q login_shell || echo plain', /\nplain$/, {}],
  ];
  it.each(cases)('shows %s', async (_, command, value, structured) => {
    const result = await createTerminalWorld().run('terminal', { command });
    expect(textOf(result)).toMatch(value);
    expect(structuredOf(result)).toMatchObject({ timed_out: false, ...structured });
  });

  it.each([
    ['[stderr]'],
    ['exit code 0 (3 ms)'],
    ['timed out after 5 ms; the command'],
    ['(no output)'],
    ['[… 12 characters left out …]'],
    ['[the rest was not kept]'],
    ['[all of the output is in /etc/x; look into it'],
    ['\\[stderr]'],
  ])('shows of a command that prints %j that the command printed it', async (line) => {
    const world = createTerminalWorld();
    world.put('line', `${line}\nrest ${line}\n`);
    const result = await world.run('terminal', { command: 'cat line; exit 1' });
    const [first, ...lines] = textOf(result).split('\n');
    expect(first).toMatch(/^exit code 1 /);
    expect(lines).toEqual([`\\${line}`, `rest ${line}`]);
    expect(structuredOf(result).stdout).toBe(`${line}\nrest ${line}\n`);
  });

  it('runs in the working directory, or in a folder of the reach', async () => {
    const world = createTerminalWorld();
    world.put('sub/a.txt', 'a');
    expect(textOf(await world.run('terminal', { command: 'pwd' }))).toContain(world.dir);
    expect(textOf(await world.run('terminal', { command: 'ls', cwd: 'sub' }))).toContain('a.txt');
  });

  const denials: [what: string, args: object, code: string, error: RegExp][] = [
    [
      'a folder out of reach',
      { command: 'ls', cwd: '../outside' },
      'execution_failed',
      /PATH_NOT_REACHABLE.* Give cwd a folder/,
    ],
    [
      'an absolute folder out of reach',
      { command: 'ls', cwd: '/' },
      'execution_failed',
      /PATH_NOT_REACHABLE/,
    ],
    [
      'a folder that is not there',
      { command: 'ls', cwd: 'nowhere' },
      'execution_failed',
      /nowhere/,
    ],
    ['no command', {}, 'input_invalid', /command/],
    ['an empty command', { command: ' ' }, 'input_invalid', /command/],
    ['an unknown argument', { command: 'ls', shell: 'zsh' }, 'input_invalid', /shell/],
    ['a NUL', { command: 'ls\0' }, 'input_invalid', /NUL/],
    [
      'a command that is too long',
      { command: `echo ${'x'.repeat(130_000)}` },
      'input_invalid',
      /script file/,
    ],
    [
      'too long a time-out',
      { command: 'ls', timeout_ms: 700_000 },
      'input_invalid',
      /terminal_start/,
    ],
    ['what a rule denies', { command: 'ls && touch made' }, 'execution_failed', /rule touch/],
    [
      'what a rule denies, wrapped',
      { command: "env A=1 bash -c 'touch made'" },
      'execution_failed',
      /rule touch/,
    ],
    ['what can not be parsed', { command: 'touch made; if' }, 'execution_failed', /unparseable/],
  ];
  const settings = { terminal: { policy: { rules: [{ command: 'touch', decision: 'deny' }] } } };
  it.each(denials)('refuses %s', async (_, args, code, error) => {
    const world = createTerminalWorld({ settings });
    const result = await world.run('terminal', args);
    expect(result).toMatchObject({ ok: false, code });
    expect(result.ok ? '' : result.error).toMatch(error);
    expect(world.has('made')).toBe(false);
  });

  describe('asks', () => {
    const asking = { terminal: { policy: { rules: [{ command: 'touch *', decision: 'ask' }] } } };

    it('with the command in question as the reason, and runs on a yes', async () => {
      const world = createTerminalWorld({ settings: asking });
      textOf(await world.run('terminal', { command: 'ls; touch made' }));
      expect(world.approvals).toEqual([
        {
          reason: '`touch made` is named by a rule of the operator (rule touch *)',
          args: { command: 'ls; touch made' },
        },
      ]);
      expect(world.has('made')).toBe(true);
    });

    it.each([false, 'none' as const])('and does not run when the answer is %s', async (approve) => {
      const world = createTerminalWorld({ settings: asking, approve });
      const result = await world.run('terminal', { command: 'touch made' });
      expect(result).toMatchObject({ ok: false, code: 'not_available' });
      expect(world.has('made')).toBe(false);
    });

    it('not about what is refused anyway', async () => {
      const world = createTerminalWorld({ settings: asking });
      expect(await world.run('terminal', { command: 'touch made; if' })).toMatchObject({
        code: 'execution_failed',
        cause: 'BINARY_NOT_ALLOWED',
      });
      expect(world.approvals).toEqual([]);
    });
  });

  describe('on a dry run', () => {
    it('says what would run, and runs nothing', async () => {
      const world = createTerminalWorld();
      const result = await world.run('terminal', { command: 'touch made' }, { dryRun: true });
      expect(textOf(result)).toMatch(/^\[dry-run\] bash would run in .*\ntouch made$/);
      expect(result).toMatchObject({ untrusted: false });
      expect(world.has('made')).toBe(false);
    });

    it.each([
      [{ command: 'touch made' }, 'execution_failed'],
      [{ command: 'ls', cwd: '..' }, 'execution_failed'],
      [{ command: 'ls', cwd: 'nowhere' }, 'execution_failed'],
      [{ command: 'ls', timeout_ms: 700_000 }, 'input_invalid'],
    ])('refuses %j', async (args, code) => {
      const world = createTerminalWorld({ settings });
      expect(await world.run('terminal', args, { dryRun: true })).toMatchObject({
        ok: false,
        code,
      });
    });
  });
});

describe('terminal leaves nothing waiting', () => {
  it('for a pager', async () => {
    const world = createTerminalWorld();
    const setUp =
      'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$(seq 90)"';
    textOf(await world.run('terminal', { command: setUp }));
    const log = textOf(await world.run('terminal', { command: 'git log' }));
    expect(log).toMatch(/ 1\n[\s\S]* 90$/);
  });

  it('for a password', async () => {
    const world = createTerminalWorld();
    world.put(
      'ask',
      '#!/bin/sh\nread -r answer < /dev/tty || { echo "no terminal" >&2; exit 9; }\n',
      0o755,
    );
    const result = await world.run('terminal', { command: './ask' });
    expect(structuredOf(result)).toMatchObject({ exit_code: 9 });
    expect(structuredOf(result).stderr).toContain('no terminal');
  });

  it('for standard input', async () => {
    expect(
      textOf(await createTerminalWorld().run('terminal', { command: 'cat; echo done' })),
    ).toContain('done');
  });
});

describe('terminal with a large output', () => {
  const small = { terminal: { max_output_chars: 1000, spill_max_mb: 1 } };

  it('shows head and tail, and keeps all of it in a file', async () => {
    const world = createTerminalWorld({ settings: small });
    const result = await world.run('terminal', { command: 'seq 1 20000' });
    const value = textOf(result);
    expect(value).toMatch(/\n1\n2\n3\n/);
    expect(value).toMatch(/\[… \d+ characters left out …\]/);
    expect(value).toMatch(
      /\n19999\n20000\n\[all of the output is in \.ethos\/terminal\/[\w-]+\.log;/,
    );
    expect(value.length).toBeLessThan(1500);
    const path = String(structuredOf(result).spilled_to);
    expect(readFileSync(path, 'utf8')).toBe(
      `${Array.from({ length: 20_000 }, (_, at) => at + 1).join('\n')}\n`,
    );
    expect(world.get('.ethos/terminal/.gitignore')).toBe('*\n');
  });

  it('has no file for a small one', async () => {
    const world = createTerminalWorld({ settings: small });
    textOf(await world.run('terminal', { command: 'seq 1 10' }));
    expect(world.has('.ethos')).toBe(false);
  });

  it('cuts the file at its cap, and says so', async () => {
    const world = createTerminalWorld({ settings: small });
    const result = await world.run('terminal', { command: 'yes é | head -c 5000000' });
    expect(textOf(result)).toContain('the beginning of the output is in .ethos/terminal/');
    const path = String(structuredOf(result).spilled_to);
    expect(statSync(path).size).toBeLessThan(1024 * 1024 + 200);
    const text = readFileSync(path, 'utf8');
    expect(text).not.toContain('\uFFFD');
    expect(text).toContain('[cut here: the output grew over 1 MiB; what followed was not kept]');
  });

  it('goes on where no file can be written, and says so', async () => {
    const world = createTerminalWorld({ settings: small, write: ['other'] });
    world.put('other/x', '');
    const result = await world.run('terminal', { command: 'seq 1 20000' });
    expect(textOf(result)).toMatch(
      /20000\n\[the rest was not kept, as there is no file that it could go to: PATH_NOT_REACHABLE/,
    );
  });

  it.runIf(isLongRun())('takes gigabytes in bounded memory', async () => {
    const bytes = 2_000_000_000;
    const world = createTerminalWorld({ settings: small });
    const before = process.memoryUsage().rss;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    const result = await world.run('terminal', {
      command: `yes 0123456789012345678901234567890123456789 | head -c ${bytes} | dd bs=64k iflag=fullblock status=none`,
      timeout_ms: 600_000,
    });
    clearInterval(watch);
    expect(structuredOf(result)).toMatchObject({ stdout_chars: bytes, exit_code: 0 });
    expect((most - before) / 2 ** 20).toBeLessThan(300);
  });

  it('takes one endless line in bounded memory', async () => {
    const bytes = tries({ check: 6_000_000, long: 60_000_000 });
    const world = createTerminalWorld({ settings: small });
    const result = await world.run('terminal', {
      command: `head -c ${bytes} /dev/zero | tr "\\0" x`,
    });
    expect(structuredOf(result)).toMatchObject({ stdout_chars: bytes });
  });
});

describe('terminal ends what runs too long', () => {
  it('and takes the most that the operator allows where the default is more', async () => {
    const terminal = { default_timeout_ms: 600_000, max_timeout_ms: 500_000 };
    const world = createTerminalWorld({ settings: { terminal } });
    expect(await world.run('terminal', { command: 'printf x' })).toMatchObject({ ok: true });
  });

  it('with what there was until then', async () => {
    const world = createTerminalWorld();
    const command = 'echo before; sleep 100';
    const result = await withEnoughTime(
      (timeout_ms) => world.run('terminal', { command, timeout_ms }),
      (result) => errorOf(result).includes('before'),
    );
    expect(result).toMatchObject({
      ok: false,
      code: 'execution_failed',
      cause: 'CALL_TIMED_OUT',
    });
    expect(errorOf(result)).toMatch(/^timed out after \d+ ms; .*\nbefore$/);
  });

  it('also where output is endless', async () => {
    const world = createTerminalWorld({
      settings: { terminal: { max_output_chars: 1000, spill_max_mb: 1 } },
    });
    const result = await world.run('terminal', { command: 'yes', timeout_ms: 300 });
    expect(result.ok ? '' : result.error).toMatch(/^timed out after 300 ms/);
  });

  it('with children and grandchildren, on an abort', async () => {
    const world = createTerminalWorld();
    const controller = new AbortController();
    const running = world.run(
      'terminal',
      {
        command:
          '(sleep 300 & echo $! > a; sleep 300) & sleep 300 & echo $! > b; echo $$ > c; wait',
      },
      { abortSignal: controller.signal },
    );
    while (!(world.has('a') && world.has('c') && world.get('a') !== '' && world.get('c') !== ''))
      await sleep(10);
    const pids = ['a', 'b', 'c'].map((name) => Number(world.get(name)));
    controller.abort();
    expect(await running).toMatchObject({ ok: false, code: 'execution_failed' });
    while (pids.some((pid) => isRunning(pid))) await sleep(10);
  });

  it('only: two at once do not wait for each other', async () => {
    const world = createTerminalWorld();
    const [first, second] = await Promise.all([
      world.run('terminal', {
        command: 'until [ -e two ]; do sleep 0.01; done; touch one; echo first',
      }),
      world.run('terminal', {
        command: 'touch two; until [ -e one ]; do sleep 0.01; done; echo second',
      }),
    ]);
    expect(first && textOf(first)).toContain('first');
    expect(second && textOf(second)).toContain('second');
  });
});

describe('terminal tells progress', () => {
  it('with its description and the newest lines', async () => {
    const world = createTerminalWorld();
    await world.run('terminal', {
      command: 'for i in 1 2 3 4; do echo step $i; sleep 0.3; done',
      description: 'count',
    });
    const messages = world.events.map(({ message }) => message);
    expect(messages[0]).toBe('count');
    // Lines that arrive together, as on a busy machine, are reported once.
    expect(messages.slice(1).filter((message) => !/^step [1-4]$/.test(message))).toEqual([]);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.length).toBeLessThan(7);
  });

  it('with whole lines, so that no half of a secret is told', async () => {
    const world = createTerminalWorld();
    const line = 'x'.repeat(1_900);
    await world.run('terminal', { command: `echo ${line}` });
    expect(world.events.map(({ message }) => message)).toEqual([line]);
  });
});

/** Whether such a process exists and is not a zombie. */
function isRunning(pid: number): boolean {
  if (!existsSync(join('/proc', String(pid)))) return false;
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}
