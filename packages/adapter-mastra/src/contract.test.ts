import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

// Mastra wants Node 22.13. On an older one, the same file runs on a Node that npx brings.
if (major > 22 || (major === 22 && minor >= 13)) {
  // What Mastra tells its makers of its use.
  process.env.MASTRA_TELEMETRY_DISABLED = '1';
  const { contract } = await import('./fixtures/contract.js');
  const { foreignContract } = await import('./fixtures/foreign-contract.js');
  describe('mastraTools in agents and workflows of Mastra', contract);
  describe('fromMastraTool', foreignContract);
} else {
  it('mastraTools and fromMastraTool, on Node 22', async () => {
    const folder = createTestFolder('mastra-contract');
    onTestFinished(() => folder.remove());
    const outputFile = join(folder.dir, 'report.json');
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const config = ['--config', 'vitest.workspace.ts', '--reporter=json'];
    const file = 'packages/adapter-mastra/src/contract.test.ts';
    const program = ['node', vitest, 'run', ...config, `--outputFile=${outputFile}`, file];
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')),
    );
    await promisify(execFile)(
      'npx',
      ['--prefer-offline', '-y', '-p', 'node@22', '--', ...program],
      {
        cwd: root,
        env: { ...env, NODE_ENV: 'test' },
        maxBuffer: 2 ** 26,
      },
    ).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
    const report = JSON.parse(readFileSync(outputFile, 'utf8'));
    expect(report).toMatchObject({ success: true, numFailedTests: 0 });
    expect(report.numPassedTests).toBeGreaterThan(50);
    expect(JSON.stringify(report)).toContain('meets Node 22 and the version of Mastra');
  });
}
