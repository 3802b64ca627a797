import { readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  compileProgram,
  inCheck,
  inPlace,
  isLongRun,
  type Outcome,
  runInTurn,
  runNode,
} from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storyFiles, storyNames } from './stories.js';

const root = resolve(import.meta.dirname, '..');
/**
 * Left to the long run: several seconds of processor time each, for servers, a browser or the
 * framework of an adapter, which has its contract tests in each check. Mastra's are for Node 22. The pages'
 * snippets start an MCP server, commands and a project's own checks in each check.
 */
const HEAVY = [
  ...['fleet', 'mcp', 'mcp-server', 'browser', 'code', 'terminal'],
  ...['ai-sdk', 'anthropic', 'langchain', 'mastra', 'openai-agents'],
];
const isHeavy = (source: string) => HEAVY.some((name) => source.includes(join(name, 'src')));
const files = inCheck(storyFiles(), (source) => !isHeavy(source));
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

describe('the list of examples', () => {
  it('has a line for each', () => {
    const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
    const listed = [...page.matchAll(/\]\((.+?)\/src\/main\.ts\)/g)].map(([, name]) => name);
    expect(listed.sort()).toEqual(storyNames().sort());
  });

  it('is told to who asks for an example that does not exist', () => {
    expect(() => storyFiles(['agent', 'agnet'])).toThrow(
      /^there is no example "agnet"; .*\bagent,/,
    );
    expect(storyFiles(['web', 'agent']).map((file) => relative(root, file))).toEqual([
      join('examples', 'web', 'src', 'main.ts'),
      join('examples', 'agent', 'src', 'main.ts'),
    ]);
  });
});
