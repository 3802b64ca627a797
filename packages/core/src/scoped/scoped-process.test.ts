import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import type { SpawnOpts } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rejection, untyped } from '../testing/batch.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';

const root = mkdtempSync(join(tmpdir(), 'scoped-process-'));
const fake = join(root, 'fake');

/** Creates an executable shell script below `root`. */
function script(path: string, body: string): string {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

beforeAll(() => {
  script('fake/git', 'echo FAKE');
  script('git', 'echo FAKE');
  script('honest/hello', 'echo hello');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function processes(allowed: string[], options: ScopedProcessOptions = {}): ScopedProcessImpl {
  return new ScopedProcessImpl(new Set(allowed), options);
}

function node(code: string, opts?: SpawnOpts, options?: ScopedProcessOptions) {
  return processes(['node'], options).spawn('node', ['-e', code], opts);
}

describe('ScopedProcessImpl.spawn, which binary', () => {
  it.each<[string, string, string[]]>([
    ['rm', 'rm', ['git']],
    ['./git', './git', ['git']],
    ['fake/git', 'fake/git', ['git']],
    ['an absolute path that is not declared', '/usr/bin/git', ['git']],
    ['another spelling of a declared path', '/usr/bin/../bin/git', ['/usr/bin/git']],
    ['GIT', 'GIT', ['git']],
    ['git with NUL', 'git\0x', ['git', 'git\0x']],
    ['git with a space', 'git ', ['git']],
    ['an empty name', '', ['', '*']],
    ['a name where only its path is declared', 'git', ['/usr/bin/git']],
    ['.', '.', ['*']],
    ['..', '..', ['*']],
    ['./git under *', './git', ['*']],
    ['fake/git under *', 'fake/git', ['*']],
    ['a backslash under *', 'fake\\git', ['*']],
    ['git where nothing is declared', 'git', []],
  ])('refuses %s', async (_name, binary, allowed) => {
    expect(await rejection(processes(allowed).spawn(binary, ['--version']))).toMatchObject({
      code: 'BINARY_NOT_ALLOWED',
      message: expect.stringContaining(
        `BINARY_NOT_ALLOWED: ${binary} is not in the declared allowedBinaries`,
      ),
    });
  });

  it.each<[string, string, string[]]>([
    ['a declared name', 'git', ['git']],
    ['a name under *', 'git', ['*']],
    ['a declared path', '/usr/bin/git', ['/usr/bin/git']],
    ['a path under *', '/usr/bin/git', ['*']],
  ])('runs %s', async (_name, binary, allowed) => {
    const result = await processes(allowed).spawn(binary, ['--version']);
    expect(result).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^git version/),
      stderr: '',
    });
  });

  it('finds a name on the host’s PATH, never on one that the tool passes', async () => {
    const git = processes(['git']);
    expect(await rejection(git.spawn('git', ['--version'], { env: { PATH: fake } }))).toMatchObject(
      {
        code: 'BINARY_NOT_ALLOWED',
      },
    );
    const hello = processes(['hello'], { baseEnv: { PATH: `${root}/honest:/usr/bin:/bin` } });
    expect((await hello.spawn('hello', [])).stdout).toBe('hello\n');
  });

  it.each([['.'], [''], ['fake']])(
    'passes over %j on the PATH: it is not absolute',
    async (entry) => {
      const git = processes(['git'], { baseEnv: { PATH: `${entry}:/usr/bin:/bin` } });
      expect((await git.spawn('git', ['--version'], { cwd: root })).stdout).toMatch(/^git version/);
    },
  );

  it('a name that is not installed is SPAWN_FAILED', async () => {
    expect(
      await rejection(processes(['no-such-binary']).spawn('no-such-binary', [])),
    ).toMatchObject({
      code: 'SPAWN_FAILED',
    });
  });

  it.each<[string, () => string[], Record<string, string>]>([
    ['one argument', () => ['x'.repeat(200_000)], {}],
    ['all arguments', () => Array.from({ length: 100 }, () => 'x'.repeat(100_000)), {}],
    ['a variable', () => [], { LONG: 'x'.repeat(200_000) }],
  ])('%s too long for the system is SPAWN_FAILED', async (_name, args, env) => {
    expect(await rejection(processes(['true']).spawn('true', args(), { env }))).toMatchObject({
      code: 'SPAWN_FAILED',
      message: expect.stringContaining('shorten them'),
    });
  });

  it('a file that can not be executed is SPAWN_FAILED', async () => {
    const file = join(root, 'broken');
    writeFileSync(file, '#!/no/such/interpreter\n');
    chmodSync(file, 0o755);
    expect(await rejection(processes([file]).spawn(file, []))).toMatchObject({
      code: 'SPAWN_FAILED',
    });
  });
});

describe('ScopedProcessImpl.spawn, arguments and environment', () => {
  const print = ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--'];
  const strange = [
    ['$(id)'],
    ['`id`'],
    ['; id'],
    ['| id'],
    ['&& id'],
    ['> /tmp/x'],
    ['$HOME'],
    ['*'],
    ['~'],
    ['\'"'],
    ['a\nb'],
    [''],
    ['ü😀'],
    ['%PATH%'],
  ];

  it('passes strange ones as they are, all to one process', async () => {
    const { stdout } = await processes(['node']).spawn('node', [...print, ...strange.flat()]);
    expect(JSON.parse(stdout)).toEqual(strange.flat());
  });

  it.runIf(isLongRun()).each(strange)('passes %j as it is', async (arg) => {
    const { stdout } = await processes(['node']).spawn('node', [...print, arg]);
    expect(JSON.parse(stdout)).toEqual([arg]);
  });

  it.each<[string, unknown[]]>([
    ['NUL', ['a\0b']],
    ['a number', [1]],
    ['undefined', [undefined]],
  ])('refuses an argument of %s', async (_name, args) => {
    const spawned = processes(['node']).spawn('node', untyped(args));
    expect(await rejection(spawned)).toMatchObject({ code: 'SPAWN_FAILED' });
  });

  it('merges env over the base environment', async () => {
    const code =
      'process.stdout.write([process.env.FOO, process.env.BASE, process.env.BOTH].join())';
    const { PATH } = process.env;
    const baseEnv = { PATH, BASE: 'base', BOTH: 'base' };
    const { stdout } = await node(code, { env: { FOO: 'foo', BOTH: 'tool' } }, { baseEnv });
    expect(stdout).toBe('foo,base,tool');
  });

  it('by default the base environment is the host’s', async () => {
    const { stdout } = await node('process.stdout.write(process.env.PATH)');
    expect(stdout).toBe(process.env.PATH);
  });

  it('a credential of the host is not in a child whose base environment leaves it out', async () => {
    process.env.FAKE_API_KEY = 'hunter2222';
    const baseEnv = { PATH: process.env.PATH };
    const { stdout } = await node(
      'process.stdout.write(JSON.stringify(process.env))',
      {},
      { baseEnv },
    );
    delete process.env.FAKE_API_KEY;
    expect(stdout).not.toContain('hunter2222');
  });

  it('refuses a variable that changes what runs, before anything runs', async () => {
    const witness = join(root, 'witness');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(witness)}, '')`;
    expect(
      await rejection(node(code, { env: { NODE_OPTIONS: '--require=/tmp/x.js' } })),
    ).toMatchObject({
      code: 'BINARY_NOT_ALLOWED',
    });
    expect(
      await rejection(import('node:fs/promises').then((fs) => fs.access(witness))),
    ).toMatchObject({
      code: 'ENOENT',
    });
  });
});

describe('ScopedProcessImpl.spawn, outcome', () => {
  const outcomes: Array<[string, string, object]> = [
    ['exit code 0', '', { exitCode: 0, stdout: '', stderr: '' }],
    ['exit code 3', 'process.exit(3)', { exitCode: 3, stdout: '', stderr: '' }],
    [
      'both streams',
      'console.log("o"); console.error("e")',
      { exitCode: 0, stdout: 'o\n', stderr: 'e\n' },
    ],
    [
      'SIGTERM',
      'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 9)',
      { exitCode: 143, stdout: '', stderr: '', signal: 'SIGTERM' },
    ],
    [
      'SIGKILL',
      'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 9)',
      { exitCode: 137, stdout: '', stderr: '', signal: 'SIGKILL' },
    ],
    [
      'SIGSEGV',
      'process.kill(process.pid, "SIGSEGV"); setInterval(() => {}, 9)',
      { exitCode: 139, stdout: '', stderr: '', signal: 'SIGSEGV' },
    ],
    [
      'UTF-8 in two chunks',
      'const b = Buffer.from("ü"); process.stdout.write(b.subarray(0, 1)); setTimeout(() => process.stdout.write(b.subarray(1)), 50)',
      { exitCode: 0, stdout: 'ü', stderr: '' },
    ],
    [
      'invalid UTF-8',
      'process.stdout.write(Buffer.from([0x61, 0xff, 0xfe, 0x62]))',
      { exitCode: 0, stdout: 'a\ufffd\ufffdb', stderr: '' },
    ],
    [
      'NUL bytes',
      'process.stdout.write(Buffer.from([0, 1, 2]))',
      { exitCode: 0, stdout: '\0\u0001\u0002', stderr: '' },
    ],
    [
      'stdin, which is closed',
      'process.stdin.on("data", () => {}).on("end", () => console.log("end"))',
      { exitCode: 0, stdout: 'end\n', stderr: '' },
    ],
  ];
  // In a check, `processAttacks` has the others, with a shell.
  const inUtf8 = inCheck(outcomes, ([name]) => name === 'UTF-8 in two chunks');
  it.each(inUtf8)('%s', async (_name, code, expected) => {
    expect(await node(code)).toEqual(expected);
  });

  it('reads of stdin by a binary that waits for it end at once', async () => {
    expect(await processes(['cat']).spawn('cat', [])).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('200 MB on stdout are capped, marked, and never held', async () => {
    const before = process.memoryUsage().rss;
    const result = await processes(['head']).spawn('head', ['-c', '200M', '/dev/zero']);
    expect(result).toMatchObject({ truncated: true, stderr: '' });
    expect(result.stdout).toBe('\0'.repeat(10 * 1024 * 1024));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each([
    ['stdout', 'process.stdout.write("x".repeat(1000))', { stdout: 'x'.repeat(10), stderr: '' }],
    ['stderr', 'process.stderr.write("x".repeat(1000))', { stdout: '', stderr: 'x'.repeat(10) }],
  ])('a cap of 10 bytes cuts %s', async (_name, code, expected) => {
    expect(await node(code, {}, { maxOutputBytes: 10 })).toMatchObject({
      ...expected,
      truncated: true,
    });
  });

  it('output of exactly the cap is whole', async () => {
    const result = await node('process.stdout.write("x".repeat(10))', {}, { maxOutputBytes: 10 });
    expect(result).toEqual({ exitCode: 0, stdout: 'x'.repeat(10), stderr: '' });
  });
});
