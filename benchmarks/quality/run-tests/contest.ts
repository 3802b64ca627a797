import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { DefaultToolRegistry } from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import { runTestsTool } from '@ethosagent/tools-code';
import { z } from 'zod';
import type { Project } from './projects.js';
import { type Totals, totalsIn } from './summary.js';

/** One project, run both ways. */
export interface Row {
  name: string;
  wanted: string;
  /** What `run_tests` took, or why it ran nothing. */
  runner: string;
  ours: Totals & { passedAll: boolean };
  direct: Totals & { passedAll: boolean };
}

/** Variables of both runs, except for the `PATH`: those that a person's shell has. */
export function environment(path: string): Record<string, string> {
  return { PATH: path, HOME: process.env.HOME ?? '/', LANG: 'C.UTF-8' };
}

const structured = z.object({
  tool: z.string(),
  passed: z.boolean(),
  counts: z
    .object({ passed: z.int(), failed: z.int(), skipped: z.int(), todo: z.int() })
    .optional(),
});

/** Puts a project below a folder, with what its tests need. */
export async function fetchProject(project: Project, base: string, npm: string): Promise<string> {
  const dir = join(base, project.name.replaceAll(/[@/ ]/g, '_'));
  await mkdir(dir, { recursive: true });
  const exec = (command: string, args: readonly string[], cwd: string) =>
    sh(command, args, { cwd, env: environment(npm) });
  if (project.files?.['package.json'] === undefined) {
    const { output } = await exec('npm', ['pack', project.name, '--silent'], dir);
    const archive = output.trim().split('\n').at(-1) ?? '';
    await exec('tar', ['xzf', archive, '--strip-components=1'], dir);
  }
  for (const [name, content] of Object.entries(project.files ?? {})) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content);
  }
  if (project.prepare !== undefined) await exec('sh', ['-c', project.prepare], dir);
  if (project.install.length === 0) return dir;
  // npm would install all of them, and most are for other things than tests.
  const manifest = z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')));
  delete manifest.devDependencies;
  await writeFile(join(dir, 'package.json'), JSON.stringify(manifest));
  const options = '--no-save --no-audit --no-fund --legacy-peer-deps --ignore-scripts'.split(' ');
  await exec('npm', ['install', ...options, ...project.install], dir);
  return dir;
}

/** Runs the tests of a project by `run_tests`, and directly. */
export async function runBoth(project: Project, dir: string, path: string): Promise<Row> {
  const env = environment(path);
  const { direct } = project;
  const [command, args] =
    'script' in direct
      ? (['npm', ['run', '--silent', '--ignore-scripts', direct.script]] as const)
      : (['sh', ['-c', direct.command]] as const);
  const run = await sh(command, args, { cwd: dir, env });
  const theirs = { ...totalsIn(project.summary, run.output), passedAll: run.code === 0 };
  const { runner, totals } = await runTests(dir, env);
  return { name: project.name, wanted: project.runner, runner, ours: totals, direct: theirs };
}

/** Whether both ways say the same. */
export function isSame({ wanted, runner, ours, direct }: Row): boolean {
  return (
    wanted === runner &&
    ours.passed === direct.passed &&
    ours.failed === direct.failed &&
    ours.left === direct.left &&
    ours.passedAll === direct.passedAll
  );
}

async function runTests(
  dir: string,
  env: Record<string, string>,
): Promise<{ runner: string; totals: Row['ours'] }> {
  const registry = new DefaultToolRegistry({
    storage: new FsStorage(),
    personalityFsReach: { read: [dir], write: [dir] },
    processEnv: env,
  });
  registry.register(runTestsTool);
  const [answer] = await registry.executeParallel(
    [{ toolCallId: 'c1', name: 'run_tests', args: {} }],
    {
      sessionId: 's1',
      sessionKey: 'bench:run-tests',
      platform: 'cli',
      workingDir: dir,
      currentTurn: 1,
      messageCount: 1,
      abortSignal: new AbortController().signal,
      emit: () => {},
    },
  );
  const none = { passed: 0, failed: 0, left: 0, passedAll: false };
  if (answer === undefined) return { runner: 'no answer', totals: none };
  if (!answer.result.ok) return { runner: answer.result.error.slice(0, 300), totals: none };
  const { tool, passed, counts } = structured.parse(answer.result.structured);
  const left = (counts?.skipped ?? 0) + (counts?.todo ?? 0);
  return {
    runner: tool,
    totals: {
      passed: counts?.passed ?? 0,
      failed: counts?.failed ?? 0,
      left,
      passedAll: passed,
    },
  };
}

function sh(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<{ output: string; code: number }> {
  return new Promise((resolve) => {
    const limits = { maxBuffer: 512 * 1024 * 1024 };
    execFile(command, args, { ...options, ...limits }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1;
      resolve({ output: stripVTControlCharacters(`${stdout}\n${stderr}`), code });
    });
  });
}
