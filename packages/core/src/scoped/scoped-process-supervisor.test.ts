import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { bundleScript, inCheck, isLongRun } from '@ethosagent/test-support';
import { afterEach, describe, expect, it } from 'vitest';
import { catches, markedProcesses, supervisorOf } from '../testing/marked-processes.js';

const script = await bundleScript(new URL('../testing/supervised-host.ts', import.meta.url));
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function startHost(kind: string, env: NodeJS.ProcessEnv = {}) {
  const mark = randomUUID();
  const host = spawn(process.execPath, [script, mark, kind], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(host);
  let said = '';
  host.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const child = (name: string) =>
    [...markedProcesses(mark)].find(([, each]) => each === `${mark}:${name}`)?.[0];
  return { mark, host, child, said: () => said, closed: once(host, 'close') };
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await delay(50);
  }
}
const gone = (mark: string) => until(() => markedProcesses(mark).size === 0 || undefined);

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the supervisor of a host', () => {
  it.for(inCheck(['starts nothing', 'is done'], (kind) => kind === 'is done'))(
    'keeps no host from ending that %s',
    async (kind) => {
      const { closed, said } = startHost(kind);
      expect(await closed).toEqual([0, null]);
      expect(said()).toBe('no problem\n');
    },
  );

  it('ends itself when nothing is left', async () => {
    const { host, child, closed } = startHost('runs');
    await until(() => child('a'));
    const supervisor = await until(() => supervisorOf(host.pid));
    host.kill('SIGKILL');
    await closed;
    await until(() => !isThere(supervisor) || undefined);
  });

  it('is not ended by what ends all at once, and is started again when it is killed', async () => {
    const { host, child, mark, closed, said } = startHost('runs');
    await until(() => child('a'));
    const first = await until(() => supervisorOf(host.pid));
    const ofAll = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
    await until(() => ofAll.every((name) => catches(first, constants.signals[name])) || undefined);
    for (const signal of ofAll) process.kill(first, signal);
    expect(supervisorOf(host.pid)).toBe(first);
    process.kill(first, 'SIGKILL');
    await until(() => [supervisorOf(host.pid)].find((pid) => pid !== undefined && pid !== first));
    host.kill('SIGUSR2');
    await until(() => child('b'));
    await until(() => said().includes('was ended (SIGKILL)') || undefined);
    host.kill('SIGKILL');
    await closed;
    await gone(mark);
  });

  it('is missing where there is no Node, which is told; the host ends what it knows', async () => {
    const { host, child, mark, closed, said } = startHost('has no Node');
    await until(() => child('a'));
    host.kill('SIGUSR2');
    await closed;
    expect(said()).toMatch(/can't be started \(.*ENOENT\)/);
    await gone(mark);
  });

  it('leaves alone what another host started, and who only knows its tag', async () => {
    const one = startHost('runs');
    const other = startHost('runs');
    const a = await until(() => one.child('a'));
    const b = await until(() => other.child('a'));
    const bystander = spawn('sleep', ['3600'], {
      env: { PATH: process.env.PATH, NOTE: `ETHOS_CALL_TAG=${tagOf(a)}` },
    });
    started.push(bystander);
    await once(bystander, 'spawn');
    one.host.kill('SIGKILL');
    await one.closed;
    await gone(one.mark);
    expect([isThere(b), bystander.exitCode, bystander.signalCode]).toEqual([true, null, null]);
    expect(other.host.exitCode).toBeNull();
  });

  it.runIf(isLongRun())(
    'of a host that a call of another started ends nothing of the other',
    async () => {
      const outer = startHost('runs');
      const a = await until(() => outer.child('a'));
      const inner = startHost('runs', { ETHOS_CALL_TAG: tagOf(a) });
      const innermost = await until(() => inner.child('a'));
      expect(tagOf(innermost).startsWith(tagOf(a))).toBe(true);
      inner.host.kill('SIGKILL');
      await inner.closed;
      await gone(inner.mark);
      expect([isThere(a), outer.host.exitCode]).toEqual([true, null]);
    },
  );
});

/** The tag that marks a process as one of a call. */
function tagOf(pid: number): string {
  const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  return environment.find((each) => each.startsWith('ETHOS_CALL_TAG='))?.split('=')[1] ?? '';
}
