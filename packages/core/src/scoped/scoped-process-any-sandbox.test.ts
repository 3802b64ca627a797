import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { bubblewrapSandbox, directoryReach, findBinary, type Sandbox } from '@ethosagent/process';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTool, ok, rejection, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'any-sandbox-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/**
 * A sandbox that only removes the host's environment, as the smallest implementation of the
 * interface.
 */
function createEnvSandbox(isAvailable = true) {
  const calls = { wrapped: 0, released: 0, ended: 0 };
  const sandbox: Sandbox = {
    remedy: 'install env',
    isAvailable: (path) => isAvailable && findBinary('env', path) !== undefined,
    wrap({ file, args, env, path }, { cwd }) {
      calls.wrapped += 1;
      const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      return {
        file: findBinary('env', path) ?? '',
        args: ['-i', ...given, file, ...args],
        env: {},
        cwd: cwd ?? '/tmp',
        release: () => {
          calls.released += 1;
        },
        ended: () => {
          calls.ended += 1;
        },
      };
    },
  };
  return { sandbox, calls };
}

const sandboxes: [name: string, sandbox: Sandbox][] = [
  ['bubblewrap', bubblewrapSandbox],
  ['env', createEnvSandbox().sandbox],
];

describe.each(sandboxes)('a process in the sandbox %s', (_name, sandbox) => {
  const processes = (options: ScopedProcessOptions = {}) =>
    new ScopedProcessImpl(new Set(['*']), {
      policy: { sandbox: 'required' },
      sandbox,
      reach: directoryReach({ read: [], write: [root] }, [root], []),
      ...options,
    });
  const shell = (program: string, opts = {}) => processes().spawn('sh', ['-c', program], opts);

  it('gives output and exit code back, and works in its reach', async () => {
    const result = await shell('pwd; echo complaint >&2; exit 3', { cwd: root });
    expect(result).toEqual({ exitCode: 3, stdout: `${root}\n`, stderr: 'complaint\n' });
  });

  it('has the variables of its call', async () => {
    const { stdout } = await shell('echo "$GREETING $TMPDIR"', { env: { GREETING: 'hello' } });
    expect(stdout).toBe('hello /tmp\n');
  });

  it('has a closed standard input, unless it is to be talked to', async () => {
    expect(await shell('read -r line || echo closed')).toMatchObject({ stdout: 'closed\n' });
    const child = await processes().launch('open', 'sh', ['-c', 'read -r x; echo "got $x"'], {});
    await child.input?.write('word\n');
    expect(await child.result).toMatchObject({ exitCode: 0, stdout: 'got word\n' });
  });

  it('ends with all that it started when its time is up', async () => {
    const result = await shell('sleep 1000 & echo $!; wait', { timeout: 500 });
    expect(result).toMatchObject({ timedOut: true });
  });
});

describe('the sandbox that a host passes', () => {
  async function run(sandbox: Sandbox, policy: 'required' | 'preferred') {
    const audit = new MemoryAuditSink();
    const registry = new DefaultToolRegistry({
      personalityProcess: { sandbox: policy },
      sandbox,
      audit,
    });
    let ran = false;
    registry.register(
      makeTool(
        'look',
        async (_args, ctx) => {
          ran = true;
          return ok((await ctx.scopedProcess?.spawn('true', []))?.exitCode === 0 ? 'ran' : 'no');
        },
        { capabilities: { process: { allowedBinaries: ['true'] } } },
      ),
    );
    const answer = await runOne(registry, 'look');
    return { answer, ran, reasons: audit.events.map(({ reason }) => reason) };
  }

  it('is the one that processes run in', async () => {
    const { sandbox, calls } = createEnvSandbox();
    expect(await run(sandbox, 'required')).toEqual({
      answer: { ok: true, value: 'ran' },
      ran: true,
      reasons: ['declared as true, sandboxed'],
    });
    expect(calls).toEqual({ wrapped: 1, released: 1, ended: 1 });
  });

  it('keeps calls from running where it is required and missing, and says its remedy', async () => {
    const { answer, ran } = await run(createEnvSandbox(false).sandbox, 'required');
    expect({ answer, ran }).toMatchObject({
      answer: { ok: false, code: 'not_available', error: expect.stringContaining('install env') },
      ran: false,
    });
  });

  it('is left out where it is preferred and missing', async () => {
    const { reasons } = await run(createEnvSandbox(false).sandbox, 'preferred');
    expect(reasons).toEqual(['declared as true, not sandboxed: this machine has no sandbox']);
  });

  it('is released also when the wrapping program can not be started', async () => {
    const { sandbox, calls } = createEnvSandbox();
    const broken: Sandbox = {
      ...sandbox,
      wrap: async (command, options) => ({
        ...(await sandbox.wrap(command, options)),
        file: join(root, 'missing'),
      }),
    };
    const processes = new ScopedProcessImpl(new Set(['*']), {
      policy: { sandbox: 'required' },
      sandbox: broken,
    });
    expect(await rejection(processes.spawn('true', []))).toMatchObject({ code: 'SPAWN_FAILED' });
    expect(calls).toEqual({ wrapped: 1, released: 1, ended: 1 });
  });
});
