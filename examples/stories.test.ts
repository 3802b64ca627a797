import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { compileProgram } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storyFiles } from './stories.js';

const root = resolve(import.meta.dirname, '..');
const stories = storyFiles().map((source) => ({
  name: relative(root, source),
  source,
  // In the story's folder, so that its imports resolve.
  program: join(source, '..', '..', `.compiled-${process.pid}.mjs`),
}));

// Over the built packages, as `pnpm demo` runs them.
describe.concurrent('examples', () => {
  beforeAll(async () => {
    for (const { source, program } of stories) {
      await compileProgram(pathToFileURL(source), program);
    }
  });
  afterAll(() => {
    for (const { program } of stories) rmSync(program, { force: true });
  });

  it.each(stories)('$name shows what it says', async ({ program }) => {
    // Rejects, with what it printed, when the story doesn't end well.
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: root });
    expect(stdout).not.toBe('');
  });
});
