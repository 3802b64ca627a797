import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createCodeTools } from '@ethosagent/tools-code';
import type { ToolResult } from '@ethosagent/types';
import { createToolRuntime, type ExecuteOptions } from '@ethosagent/wiring';

// A test fails. The agent finds out why, works out the right answer in a sandbox, repairs the code,
// and checks it again.

const base = realpathSync(mkdtempSync(join(tmpdir(), 'code-example-')));
const home = join(base, 'home');
const project = join(base, 'project');

/** A linter as a project has it: in its `node_modules`, by a link into the store of this repository. */
const biome = dirname(createRequire(import.meta.url).resolve('@biomejs/biome/package.json'));
const store = dirname(dirname(realpathSync(biome)));
const modules = biome.slice(0, biome.lastIndexOf('node_modules') + 'node_modules'.length);

function put(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

const median = (pick: string) => `'use strict';

module.exports = function median(numbers) {
  const sorted = [...numbers].sort(${pick});
  return sorted[Math.floor(sorted.length / 2)];
};
`;

put(home, {
  'personalities/checker/config.yaml': `name: Checker
fs_reach:
  read: [${JSON.stringify(project)}, ${JSON.stringify(modules)}, ${JSON.stringify(store)}]
  write: [${JSON.stringify(project)}]
tool_settings:
  run_code:
    default_timeout_ms: 5000
`,
});
put(project, {
  'package.json': '{ "name": "numbers", "scripts": { "test": "node --test" } }\n',
  'biome.json': '{}\n',
  'src/median.js': median(''),
  'src/median.test.js': `'use strict';
const assert = require('node:assert');
const { test } = require('node:test');
const median = require('./median.js');

test('of small numbers', () => assert.equal(median([3, 1, 2]), 2));
test('of larger numbers', () => assert.equal(median([100, 9, 8]), 9));
`,
});
mkdirSync(join(project, 'node_modules', '@biomejs'), { recursive: true });
symlinkSync(realpathSync(biome), join(project, 'node_modules', '@biomejs', 'biome'));

const runtime = await createToolRuntime({
  home,
  personality: 'checker',
  cwd: project,
  tools: createCodeTools(),
});

/** Makes one call, and prints it and its answer. */
async function call(name: string, args: object, options?: ExecuteOptions): Promise<ToolResult> {
  // No model reads the result, and the program itself chooses the calls: there is nothing to protect.
  const [answer] = await runtime.execute([{ toolCallId: '1', name, args }], {
    ...options,
    protections: 'none',
  });
  assert(answer);
  const { result } = answer;
  const text = result.ok ? result.value : `${result.code}: ${result.error}`;
  process.stdout.write(`> ${name} ${JSON.stringify(args)}\n${text}\n\n`);
  return result;
}

function structuredOf(result: ToolResult): Record<string, unknown> {
  assert(result.ok && result.structured, JSON.stringify(result));
  return result.structured;
}

try {
  const plan = await call('run_tests', {}, { dryRun: true });
  assert.equal(structuredOf(plan).tool, 'node');

  const failing = structuredOf(await call('run_tests', {}));
  assert.deepEqual(failing.counts, { passed: 1, failed: 1, skipped: 0, todo: 0 });

  const experiment = await call('run_code', {
    language: 'javascript',
    code: 'console.log([100, 9, 8].sort(), [100, 9, 8].sort((a, b) => a - b));',
  });
  if (experiment.ok) {
    assert.equal(experiment.value, '[ 100, 8, 9 ] [ 8, 9, 100 ]');
    const look = await call('run_code', {
      language: 'python',
      code: `import os\nprint(os.path.exists(${JSON.stringify(project)}))`,
    });
    assert(look.ok && look.value === 'False');
  } else {
    // Without a sandbox it runs nothing at all.
    assert.equal(experiment.code, 'not_available');
  }

  // The editing is another tool's: see @ethosagent/tools-file.
  put(project, { 'src/median.js': median('(a, b) => a - b') });
  const passing = structuredOf(await call('run_tests', { filter: 'larger' }));
  assert.equal(passing.passed, true);

  put(project, { 'src/extra.js': "'use strict';\nif (process.argv.length == 2) {\n}\n" });
  const linted = structuredOf(await call('lint', { path: 'src/extra.js' }));
  assert.equal(linted.tool, 'biome');
  assert.equal(linted.passed, false);

  const typed = await call('typecheck', {});
  assert(!typed.ok && typed.code === 'not_available');

  const outside = await call('lint', { path: '../home' });
  assert(!outside.ok && outside.error.startsWith('PATH_NOT_REACHABLE'));
} finally {
  await runtime.close();
  rmSync(base, { recursive: true, force: true });
}
