// Runs what CI runs. Build, types and the scripts of the tests go side by side. The tests follow, since
// some of them use what was built, and lint goes beside them. A part prints when it ends. One that fails
// stops the run before the tests; if lint fails, so does the run, at its end, which says so. Else the
// closing line of the tests is the last one, if there are more than a few.
import { spawn } from 'node:child_process';
import { styleText } from 'node:util';

const pnpm = (...args) => {
  const { npm_execpath: runner } = process.env;
  if (runner === undefined) throw new Error('run this as a script of pnpm: pnpm check');
  // pnpm may be a program or a script.
  return /\.[cm]?js$/.test(runner) ? [process.execPath, runner, ...args] : [runner, ...args];
};

const BEFORE_TESTS = {
  build: [process.execPath, 'scripts/build.mjs'],
  types: pnpm('run', 'typecheck'),
  scripts: [process.execPath, '--import', 'tsx', 'scripts/bundle-scripts.ts'],
};

/** Runs a command and resolves to its exit code and to what it wrote, where that isn't inherited. */
function run([command, ...args], stdio, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', stdio, stdio], env });
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(output) }));
  });
}

async function runPart([name, command]) {
  const started = performance.now();
  const env = {
    ...process.env,
    // For the part that runs TypeScript: the packages are their sources.
    TSX_TSCONFIG_PATH: 'tsconfig.sources.json',
    // The compiler collects its garbage less often, which takes a fifth less of the processor.
    GOGC: process.env.GOGC ?? '400',
  };
  const { code, output } = await run(command, 'pipe', env);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const verdict = code === 0 ? styleText('green', 'passed') : styleText('red', 'failed');
  process.stdout.write(`${name} ${verdict} after ${seconds} s\n`);
  if (code !== 0) process.stdout.write(output);
  return code;
}

const programs = await run([process.execPath, 'scripts/programs.mjs'], 'inherit');
const codes = await Promise.all(Object.entries(BEFORE_TESTS).map(runPart));
if (programs.code !== 0 || codes.some((code) => code !== 0)) process.exit(1);

const tests = run(pnpm('run', 'test:all', ...process.argv.slice(2)), 'inherit');
const lint = await runPart(['lint', pnpm('run', 'lint')]);
const { code } = await tests;
if (lint !== 0) process.stdout.write('The check failed: lint, see above\n');
process.exit(code === 0 ? lint : code);
