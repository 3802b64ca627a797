import { spawnSync } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storyFiles } from './stories.js';

const root = resolve(import.meta.dirname, '..');

describe('examples', () => {
  it.each(storyFiles().map((file) => relative(root, file)))('%s shows what it says', (file) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.sources.json' },
    });
    expect(status, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).not.toBe('');
  });
});
