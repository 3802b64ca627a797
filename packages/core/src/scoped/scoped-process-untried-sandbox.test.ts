import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bubblewrapSandbox } from '@ethosagent/process';
import { bundleScript } from '@ethosagent/test-support';
import { expect, it } from 'vitest';

it.runIf(await bubblewrapSandbox.isAvailable('/usr/bin:/bin'))(
  'a sandbox that could not be tried is tried again',
  async () => {
    const script = await bundleScript(new URL('../testing/untried-sandbox.ts', import.meta.url));
    const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, script];
    const { stdout } = await promisify(execFile)('/bin/sh', limited);
    expect(JSON.parse(stdout)).toEqual(['SANDBOX_UNAVAILABLE', true]);
  },
);
