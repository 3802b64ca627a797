import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { bundleScript } from '@ethosagent/test-support';
import { expect, it } from 'vitest';

const host = await bundleScript(new URL('../testing/process-host.ts', import.meta.url));

it.each([
  ['in a sandbox', 'required'],
  ['without a sandbox', 'off'],
])(
  'a folder that the host itself was started with is not in its processes, %s',
  async (_name, sandbox) => {
    const folder = openSync(tmpdir(), 'r');
    const program = 'for d in /proc/self/fd/*; do readlink "$d"; done; echo end';
    // Node itself closes the descriptors right after the first three.
    const beside = Array.from({ length: 30 }, (_, at) =>
      at === 27 ? folder : ('ignore' as const),
    );
    const child = spawn(process.execPath, [host, program, 'mark', sandbox], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'inherit', ...beside],
    });
    closeSync(folder);
    let seen = '';
    for await (const chunk of child.stdout ?? []) {
      seen += String(chunk);
      if (seen.includes('end\n')) break;
    }
    child.kill('SIGKILL');
    expect(seen).toContain('/dev/null');
    expect(seen.split('\n')).not.toContain(tmpdir());
  },
);
