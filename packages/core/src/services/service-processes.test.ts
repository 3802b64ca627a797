import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FsStorage } from '@ethosagent/storage-fs';
import { isLongRun, tries } from '@ethosagent/test-support';
import { errorCodeOf, type ProcessPolicy } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import { rejection } from '../testing/batch.js';
import { present, processesOf, servicesOf } from '../testing/open-services.js';

const MEGABYTE = 1024 * 1024;
const codeOf = async (promise: Promise<unknown>) => errorCodeOf(await rejection(promise));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'service-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The processes of this machine whose command line or environment contains a mark. */
function survivors(mark: string): string[] {
  return readdirSync('/proc').filter((pid) =>
    ['cmdline', 'environ'].some((file) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    }),
  );
}

async function gone(mark: string): Promise<string[]> {
  for (let waited = 0; waited < 1_000 && survivors(mark).length > 0; waited += 50) await sleep(50);
  return survivors(mark);
}

describe.each<[string, ProcessPolicy]>([
  ['plain', {}],
  ['sandboxed', { sandbox: 'required' }],
])('ServiceProcesses.open, %s', (_name, policy) => {
  const opened = (personality = policy) => processesOf({ personalityProcess: personality });
  // What a sandbox has no part in is tried with one in a long run only.
  const itOfAnyProcess = it.runIf(isLongRun() || policy.sandbox === undefined);

  it('talks to a process, keeps none of its output, and tells how it ended', async () => {
    const { processes, events } = await opened();
    let said = '';
    let heard = () => {};
    const answer = () =>
      new Promise<string>((resolve) => {
        heard = () => resolve(said);
      });
    const cat = await processes.open('sh', ['-c', 'cat; echo bye >&2; exit 3'], {
      onOutput: (text, stream) => {
        said += `${stream}: ${text}`;
        heard();
      },
    });
    for (const line of ['one\n', new TextEncoder().encode('zwei ü\n')]) {
      const answered = answer();
      await cat.write(line);
      await answered;
    }
    cat.end();
    expect(await cat.result).toEqual({ exitCode: 3, stdout: '', stderr: '' });
    expect(said).toBe('stdout: one\nstdout: zwei ü\nstderr: bye\n');
    expect(events.at(-1)).toMatchObject({
      capability: 'process',
      operation: 'open',
      target: 'sh',
      decision: 'allowed',
      reason: policy.sandbox ? 'declared as *, sandboxed' : 'declared as *',
    });
  });

  itOfAnyProcess(
    'gets what is written at once in order, all of it, after what begins it',
    async () => {
      const { processes } = await opened();
      let said = '';
      const cat = await processes.open('cat', [], {
        onOutput: (text) => {
          said += text;
        },
      });
      const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}\n`);
      const writing = Promise.all(lines.map((line) => cat.write(line)));
      cat.end();
      await writing;
      await cat.result;
      expect(said).toBe(lines.join(''));
    },
  );

  itOfAnyProcess('a write waits for a process that does not read', async () => {
    const { processes, service } = await opened();
    const sleeper = await processes.open('sleep', ['60']);
    let written = 0;
    const writing = (async () => {
      for (;;) {
        await sleeper.write(new Uint8Array(MEGABYTE));
        written += 1;
      }
    })();
    const failed = rejection(writing);
    await sleep(300);
    expect(written).toBeLessThan(3);
    await service.end();
    expect(errorCodeOf(await failed)).toBe('PROCESS_ENDED');
  });

  const flooded = tries({ check: 256, long: 2048 });
  it.runIf(isLongRun())(
    `${flooded} MB of output wait for a slow reader in little memory`,
    async () => {
      const { processes, service } = await opened();
      const before = process.memoryUsage().rss;
      let most = before;
      let chars = 0;
      const bytes = flooded * MEGABYTE;
      const flood = await processes.open('sh', ['-c', `head -c ${bytes} /dev/zero`], {
        onOutput: async (text) => {
          chars += text.length;
          most = Math.max(most, process.memoryUsage().rss);
          // Slow enough that the pipe is always full.
          if (chars < MEGABYTE) await sleep(5);
          else await new Promise(setImmediate);
        },
      });
      expect(await flood.result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      expect(chars).toBe(bytes);
      expect(most - before).toBeLessThan(250 * MEGABYTE);
      await service.end();
    },
  );

  it.runIf(isLongRun())('output that nobody wants is not kept either', async () => {
    const { processes } = await opened();
    const before = process.memoryUsage().rss;
    const flood = await processes.open('head', ['-c', String(512 * MEGABYTE), '/dev/zero']);
    await flood.result;
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MEGABYTE);
  });

  itOfAnyProcess('a write to one that has died rejects, and the host lives on', async () => {
    const { processes } = await opened();
    const dead = await processes.open('sh', ['-c', 'exec <&-; sleep 0.2']);
    const writing = (async () => {
      for (;;) {
        await dead.write('x'.repeat(100_000));
        await sleep(1);
      }
    })();
    expect(await codeOf(writing)).toBe('PROCESS_ENDED');
    await dead.result;
    expect(await codeOf(dead.write('x'))).toBe('PROCESS_ENDED');
    dead.end();
    await dead.stop();
  });

  itOfAnyProcess('takes no more after its input was ended', async () => {
    const { processes } = await opened();
    const cat = await processes.open('cat', []);
    cat.end();
    cat.end();
    expect(await codeOf(cat.write('x'))).toBe('PROCESS_ENDED');
    expect(await cat.result).toMatchObject({ exitCode: 0 });
  });

  it('stop ends the whole tree, and waits for it', async () => {
    const { processes } = await opened();
    const mark = randomUUID();
    const tree = await processes.open('sh', ['-c', 'sh -c "sleep 60; :" & sleep 60', mark], {
      env: { ATTACK_MARK: mark },
    });
    await tree.stop();
    expect(await tree.result).toMatchObject({ signal: expect.stringMatching(/SIG(TERM|KILL)/) });
    expect(await gone(mark)).toEqual([]);
  });

  it('what ignores its end, or leaves its group, is gone a second after its service', async () => {
    const { processes, service, registry } = await opened();
    const mark = randomUUID();
    const env = { ATTACK_MARK: mark };
    const stubborn = ['-c', "trap '' TERM HUP PIPE; while :; do sleep 0.1; done", mark];
    const daemon = ['-c', `setsid sh -c "trap '' TERM; sleep 60; :" & sleep 60`, mark];
    const opened_ = [
      await processes.open('sh', stubborn, { env }),
      await processes.open('sh', daemon, { env }),
    ];
    await sleep(200);
    expect(survivors(mark).length).toBeGreaterThan(1);
    await registry.endSession(service.sessionId ?? '');
    expect(await gone(mark)).toEqual([]);
    for (const { result } of opened_) expect(await codeOf(result)).toBe('CALL_ENDED');
  });

  itOfAnyProcess('what onOutput throws ends it, and is thrown on', async () => {
    const { processes } = await opened();
    const fault = new Error('enough');
    const talker = await processes.open('sh', ['-c', 'echo x; sleep 60'], {
      onOutput: () => {
        throw fault;
      },
    });
    expect(await rejection(talker.result)).toBe(fault);
  });

  it('a time-out ends it', async () => {
    const { processes } = await opened();
    const slow = await processes.open('sleep', ['60'], { timeout: 100 });
    expect(await slow.result).toMatchObject({ timedOut: true });
  });

  itOfAnyProcess('its time counts as process_seconds of the session', async () => {
    const { service, processes } = await processesOf({
      personalityProcess: policy,
      personalityQuotas: { per_session: { process_seconds: 0.3 } },
    });
    const slow = await processes.open('sleep', ['60']);
    expect(await codeOf(slow.result)).toBe('QUOTA_EXCEEDED');
    expect(await codeOf(processes.open('sleep', ['60']))).toBe('QUOTA_EXCEEDED');
    if (!policy.sandbox) {
      expect(await codeOf(processes.prepare('sleep', ['60']))).toBe('QUOTA_EXCEEDED');
    }
    expect(service.signal.aborted).toBe(false);
  });
});

describe('ServiceProcesses.open, sandboxed with a network', () => {
  it('talks to the process behind its proxy', async () => {
    const { open } = servicesOf({
      personalityProcess: { sandbox: 'required' },
      personalityNetworkAllow: ['api.example.com'],
    });
    const service = await open({
      process: { allowedBinaries: ['sh'] },
      network: { allowedHosts: ['*'] },
    });
    let said = '';
    const shell = await present(service.scopedProcess).open('sh', ['-c', 'cat; echo $HTTP_PROXY'], {
      onOutput: (text) => {
        said += text;
      },
    });
    await shell.write('hello\n');
    shell.end();
    expect(await shell.result).toMatchObject({ exitCode: 0 });
    expect(said).toMatch(/^hello\nhttp:\/\/127\.0\.0\.1:\d+\n$/);
  });
});

const DENIED = { arguments: { touch: { deny: ['--no-create'] } } };

describe.each(['spawn', 'open', 'prepare'] as const)('ServiceProcesses.%s', (method) => {
  it.each<[string, string, string[], object, string]>([
    ['a binary that is not declared', 'ls', [], {}, 'BINARY_NOT_ALLOWED'],
    ['a relative path', './sh', [], {}, 'BINARY_NOT_ALLOWED'],
    ['a link of another name', '/bin/../bin/sh', [], {}, 'BINARY_NOT_ALLOWED'],
    ['what is not installed', 'not-installed', [], {}, 'SPAWN_FAILED'],
    ['a NUL', 'sh', ['a\0b'], {}, 'SPAWN_FAILED'],
    ['denied arguments', 'touch', ['--no-create', 'x'], {}, 'BINARY_NOT_ALLOWED'],
    ['LD_PRELOAD', 'sh', [], { env: { LD_PRELOAD: '/x' } }, 'BINARY_NOT_ALLOWED'],
    ['PATH', 'sh', [], { env: { PATH: '/x' } }, 'BINARY_NOT_ALLOWED'],
    ['a folder outside', 'sh', [], { cwd: tmpdir() }, 'PATH_NOT_REACHABLE'],
  ])('refuses %s', async (_name, binary, args, opts, code) => {
    const { open, events } = servicesOf({
      storage: new FsStorage(),
      personalityFsReach: { read: [folder], write: [] },
      personalityProcess: DENIED,
    });
    const service = await open({
      process: { allowedBinaries: ['sh', 'touch', 'not-installed'] },
      fs_reach: { read: 'from-personality' },
    });
    expect(await codeOf(present(service.scopedProcess)[method](binary, args, opts))).toBe(code);
    const decision = code === 'SPAWN_FAILED' ? 'allowed' : 'denied';
    expect(events.at(-1)).toMatchObject({ operation: method, target: binary, decision });
  });
});

describe('ServiceProcesses.prepare', () => {
  const base = { PATH: process.env.PATH, HOME: '/home/x', TOKEN: undefined };

  it('gives what spawn would start, and starts nothing', async () => {
    const { processes, events } = await processesOf({ processEnv: base });
    const command = await processes.prepare('sh', ['-c', 'echo $A'], { env: { A: 'b' } });
    expect(command).toEqual({
      file: expect.stringMatching(/^\/.*\/sh$/),
      args: ['-c', 'echo $A'],
      env: { PATH: base.PATH, HOME: '/home/x', A: 'b', ETHOS_CALL_TAG: expect.any(String) },
    });
    expect(events.at(-1)).toMatchObject({ operation: 'prepare', reason: 'declared as *' });
  });

  it('gives the real working directory within the reach', async () => {
    const { open } = servicesOf({
      storage: new FsStorage(),
      personalityFsReach: { read: [folder], write: [] },
    });
    const service = await open({
      process: { allowedBinaries: ['sh'] },
      fs_reach: { read: 'from-personality' },
    });
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    const processes = present(service.scopedProcess);
    expect(await processes.prepare('sh', [], { cwd: inner })).toMatchObject({ cwd: inner });
    expect(await processes.prepare('sh', [])).toMatchObject({ cwd: folder });
  });

  it.each<[ProcessPolicy, string]>([
    [{ sandbox: 'required' }, 'SANDBOX_UNAVAILABLE'],
    [{ sandbox: true }, 'SANDBOX_UNAVAILABLE'],
    [{ sandbox: 'preferred' }, 'not sandboxed'],
    [{ sandbox: false }, 'declared as *'],
  ])('under %j: %s', async (personalityProcess, outcome) => {
    const { processes, events } = await processesOf({ personalityProcess });
    const prepared = await processes.prepare('true', []).catch((error: unknown) => error);
    expect(`${errorCodeOf(prepared)} ${events.at(-1)?.reason}`).toContain(outcome);
  });

  it('is refused where the service asks for a sandbox itself', async () => {
    const { open } = servicesOf();
    const { scopedProcess } = await open({
      process: { allowedBinaries: ['true'], sandbox: 'required' },
    });
    expect(await codeOf(present(scopedProcess).prepare('true', []))).toBe('SANDBOX_UNAVAILABLE');
  });

  it('what carries its environment is ended with the service', async () => {
    const { processes, service } = await processesOf();
    const mark = randomUUID();
    const { file, args, env } = await processes.prepare('sh', [
      '-c',
      "trap '' TERM; while :; do sleep 0.1; done",
      mark,
    ]);
    const child = spawn(file, args, { env, detached: true, stdio: 'ignore' });
    const exited = once(child, 'exit');
    await sleep(100);
    expect(readFileSync(`/proc/${child.pid}/environ`, 'latin1')).toContain('ETHOS_CALL_TAG');
    await service.end();
    await exited;
    expect(await gone(mark)).toEqual([]);
  });
});
