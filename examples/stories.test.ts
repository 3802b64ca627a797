import { rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  compileProgram,
  inPlace,
  isLongRun,
  type Outcome,
  runInTurn,
  runNode,
} from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storyFiles } from './stories.js';

const root = resolve(import.meta.dirname, '..');
// It starts two servers and several workers: some twenty seconds of processor time.
const isHeavy = (source: string) => source.includes(join('fleet', 'src'));
const files = storyFiles().filter((source) => isLongRun() || !isHeavy(source));
const stories = files.map((source) => ({
  name: relative(root, source),
  source,
  // In the story's folder, so that its imports resolve.
  program: join(source, '..', '..', `.compiled-${process.pid}.mjs`),
}));

// Over the built packages, as `pnpm demo` runs them.
describe.concurrent('examples', () => {
  const inTurn = new Map<string, Outcome>();
  beforeAll(async () => {
    for (const { source, program } of stories) {
      await compileProgram(pathToFileURL(source), program);
    }
    // In a long run each has a process of its own, as in the demo.
    if (isLongRun()) return;
    const programs = stories.map(({ program }) => program);
    for (const [at, outcome] of (await runInTurn(programs)).entries()) {
      inTurn.set(programs[at] ?? '', outcome);
    }
  });
  afterAll(() => {
    for (const { program } of stories) rmSync(program, { force: true });
  });

  it.each(stories)('$name shows what it says', async ({ program }) => {
    const known = inTurn.get(program);
    const { exitCode, stdout, log } =
      known?.exitCode === 0 ? known : await inPlace((place) => runNode([program], place));
    expect(exitCode, log).toBe(0);
    expect(stdout).not.toBe('');
  });
});
