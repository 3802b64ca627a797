import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

// In a process of its own: what it measures must be its own, and it needs the collector.
it.runIf(isLongRun())(
  'a minute of soak finds nothing off, and everything flat',
  async (context) => {
    const child = spawn(
      process.execPath,
      ['--expose-gc', '--import', 'tsx', 'scripts/soak/main.ts', '--minutes', '1', '--pace', '250'],
      {
        cwd: root,
        env: { PATH: process.env.PATH, TSX_TSCONFIG_PATH: join(root, 'tsconfig.sources.json') },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    context.onTestFinished(() => {
      child.kill('SIGKILL');
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const [code] = await once(child, 'close');
    expect(output).toContain('Nothing was off.');
    expect(code).toBe(0);
  },
);
