import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinary, type Sandbox } from '@ethosagent/process';
import { isLongRun } from '@ethosagent/test-support';
import type { ProcessChannel } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import { rejection } from '../testing/batch.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'channel-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const processes = (options: ScopedProcessOptions = {}) =>
  new ScopedProcessImpl(new Set(['*']), { baseEnv: { PATH: '/usr/bin:/bin' }, ...options });

const places: [string, ScopedProcessOptions][] = [
  ['in a sandbox', { policy: { sandbox: 'required' } }],
  ['by itself', {}],
];

/** Answers each line with the line in capitals. Resolves with everything that arrived. */
async function shout(channel: ProcessChannel): Promise<string> {
  let text = '';
  for await (const bytes of channel.received) {
    text += Buffer.from(bytes).toString();
    await channel.send(Buffer.from(bytes).toString().toUpperCase());
  }
  return text;
}

describe.each(places)('the channel of a process %s', (_, options) => {
  it('carries what both say, and ends with the process', async () => {
    let heard: Promise<string> | undefined;
    const program = 'echo one >&4; read -r a <&4; echo "$a two" >&4; read -r b <&4; echo "$b"';
    const result = await processes(options).spawn('sh', ['-c', program], {
      onChannel: (channel) => {
        heard = shout(channel);
      },
    });
    expect(result).toEqual({ exitCode: 0, stdout: 'ONE TWO\n', stderr: '' });
    expect(await heard).toBe('one\nONE two\n');
  });

  it('is heard no more when the process has ended, whoever still holds it', async () => {
    let channel: ProcessChannel | undefined;
    let heard: Promise<string> | undefined;
    // The second line comes from a process that outlives the first one.
    const program = '(sleep 30; echo late >&4) >/dev/null 2>&1 & echo early >&4; read -r a <&4';
    await processes(options).spawn('sh', ['-c', program], {
      onChannel: (given) => {
        channel = given;
        heard = shout(given);
      },
    });
    expect(await heard).toBe('early\n');
    expect(await rejection(channel?.send('too late') ?? Promise.resolve())).toMatchObject({
      code: 'PROCESS_ENDED',
    });
  });

  it('is closed to the process when the tool closes it', async () => {
    const program = 'read -r a <&4 || echo closed';
    const { stdout } = await processes(options).spawn('sh', ['-c', program], {
      onChannel: (channel) => channel.close(),
    });
    expect(stdout).toBe('closed\n');
  });

  it.runIf(isLongRun())('makes a process wait that says more than is asked for', async () => {
    let bytes = 0;
    const program = 'head -c 50000000 /dev/zero >&4; echo done';
    const { stdout } = await processes(options).spawn('sh', ['-c', program], {
      onChannel: async (channel) => {
        for await (const chunk of channel.received) {
          bytes += chunk.length;
          await new Promise(setImmediate);
        }
      },
    });
    expect(stdout).toBe('done\n');
    expect(bytes).toBeLessThanOrEqual(50_000_000);
  });
});

describe('a process without a channel', () => {
  it.each(places)('%s has no descriptor 4', async (_, options) => {
    const result = await processes(options).spawn('sh', ['-c', 'echo x >&4']);
    expect(result.exitCode).not.toBe(0);
  });
});

describe('a sandbox that hands no descriptor on', () => {
  it('runs no process that needs one', async () => {
    const calls: string[] = [];
    const sandbox: Sandbox = {
      remedy: 'install env',
      isAvailable: () => true,
      wrap: ({ args, env, path }) => ({
        file: findBinary('env', path) ?? '',
        args: ['sh', ...args],
        env,
        cwd: root,
        release: () => calls.push('released'),
        ended: () => calls.push('ended'),
      }),
    };
    const [, inSandbox] = places[0] ?? [];
    const spawned = processes({ ...inSandbox, sandbox }).spawn('sh', ['-c', 'echo ran'], {
      onChannel: () => calls.push('opened'),
    });
    expect(await rejection(spawned)).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(calls).toEqual(['released', 'ended']);
  });
});
