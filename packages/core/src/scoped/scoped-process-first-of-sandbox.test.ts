import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { bubblewrapSandbox, type Sandbox } from '@ethosagent/process';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { afterEach, describe, expect, it } from 'vitest';
import { commandOf, endMarked, markedProcesses } from '../testing/marked-processes.js';
import { ScopedProcessImpl } from './scoped-process.js';

const host = await bundleScript(new URL('../testing/process-host.ts', import.meta.url));
const TRACE = readFileSync(new URL('../testing/trace-init.py', import.meta.url), 'utf8');
const PYTHON = '/usr/bin/python3';
// The attack uses the registers of one kind of processor.
const canTrace =
  isLongRun() &&
  process.arch === 'x64' &&
  existsSync(PYTHON) &&
  (await bubblewrapSandbox.isAvailable(process.env.PATH ?? ''));

const marks: string[] = [];
const newMark = () => {
  const mark = `first-${randomUUID()}`;
  marks.push(mark);
  return mark;
};
afterEach(() => {
  for (const mark of marks.splice(0)) endMarked(mark);
});

async function gone(mark: string): Promise<void> {
  while (markedProcesses(mark).size > 0) await delay(20);
}

/** A sandbox whose first process would outlive the process that made it, and carries no mark. */
function createLeavingSandbox(mark: string): Sandbox {
  const first = 'setsid env -i sh -c "sleep 3600; :" "$1" </dev/null >/dev/null 2>&1 3>&- &';
  return {
    remedy: 'install sh',
    isAvailable: () => true,
    wrap: ({ file, args, env }) => ({
      file: '/bin/sh',
      args: ['-c', `${first} echo ready >&2; read go; shift; exec "$@"`, 'sh', mark, file, ...args],
      env,
      cwd: '/tmp',
      observe: (begin) => ({
        ofCommand: () => {
          // It has already left its group then.
          while (markedProcesses(mark).size === 0);
          begin('\n');
          return Buffer.alloc(0);
        },
        failure: () => undefined,
        signal: () => undefined,
      }),
      release: () => {},
      ended: () => {},
    }),
  };
}

describe.runIf(process.platform === 'linux')('the first process of a sandbox', () => {
  it.each([
    ['its time is up', 'sleep 3600', 300],
    ['its command is done', ':', undefined],
  ])('ends when %s, whatever it is to end by', async (_, program, timeout) => {
    const mark = newMark();
    const processes = new ScopedProcessImpl(new Set(['*']), {
      policy: { sandbox: 'required' },
      sandbox: createLeavingSandbox(mark),
    });
    await processes.spawn('sh', ['-c', program], timeout === undefined ? {} : { timeout });
    await gone(mark);
  });

  it.runIf(canTrace)('ends with the call when a command in it traced it', async () => {
    const mark = newMark();
    const processes = new ScopedProcessImpl(new Set(['*']), { policy: { sandbox: 'required' } });
    const { stdout } = await processes.spawn(
      'sh',
      ['-c', '"$0" -c "$1" "$2"; sleep 3600', PYTHON, TRACE, mark],
      { timeout: 3_000 },
    );
    expect(stdout).toBe('traced\n');
    await gone(mark);
  });

  it.runIf(canTrace)('ends with a host that is killed when a command in it traced it', async () => {
    const mark = newMark();
    const program = `${PYTHON} - "$1" <<'E' >&2\n${TRACE}\nE\nsleep 3600`;
    const child = spawn(process.execPath, [host, program, mark], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const ended = once(child, 'exit');
    const isDaemon = () => [...markedProcesses(mark).keys()].some((pid) => nameOf(pid) === 'sh');
    while (!isDaemon()) await delay(20);
    child.kill('SIGKILL');
    await ended;
    await gone(mark);
  });
});

function nameOf(pid: number): string {
  const args = commandOf(pid);
  return args[2]?.startsWith('sleep 3600; :') === true ? (args[0] ?? '') : '';
}
