import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileTools } from '@ethosagent/tools-file';
import type { ToolCall, ToolResult } from '@ethosagent/types';
import { createToolRuntime, type ExecuteOptions } from '@ethosagent/wiring';
import { type Row, renderTable } from './table.js';
import { createDemoTools } from './tools.js';
import { createWorld } from './world.js';

/** A call, how it must end, and how the table names it. */
interface Step {
  name: string;
  args: Record<string, unknown>;
  label: string;
  /** A part of the value, or of the error of a refusal. */
  expect: { allowed: boolean; text: string };
}

const allowed = (text: string) => ({ allowed: true, text });
const refused = (text: string) => ({ allowed: false, text });

const world = await createWorld();
const runtime = await createToolRuntime({
  home: world.home,
  personality: 'coder',
  cwd: world.workspace,
  tools: [...createFileTools(), ...createDemoTools(world.origin)],
});

async function runSteps(title: string, steps: readonly Step[], options?: ExecuteOptions) {
  const rows: Row[] = [];
  // One call a batch, so that each has a time of its own.
  for (const [index, { name, args, label, expect }] of steps.entries()) {
    const begin = performance.now();
    const call: ToolCall = { toolCallId: `${index}`, name, args };
    // No model reads the result, and the program itself chooses the calls: there is nothing to protect.
    const [answer] = await runtime.execute([call], { ...options, protections: 'none' });
    assert(answer);
    const why = textOf(answer.result);
    assert.equal(answer.result.ok, expect.allowed, `${label}: ${why}`);
    assert(why.includes(expect.text), `${label}: expected "${expect.text}" in: ${why}`);
    assert(!why.includes(world.secret), `${label}: the secret got out`);
    rows.push({ call: label, allowed: answer.result.ok, why, ms: performance.now() - begin });
  }
  process.stdout.write(`${renderTable(title, rows, process.stdout.isTTY === true)}\n`);
}

function textOf(result: ToolResult): string {
  if (result.ok) return result.value;
  // A denial begins with its own code. Other failures show the code of the result.
  return /^[A-Z_]+:/.test(result.error) ? result.error : `${result.code}: ${result.error}`;
}

try {
  await runSteps('The coder, doing its work', [
    {
      name: 'read_file',
      args: { path: 'notes.md' },
      label: 'read_file notes.md',
      expect: allowed('greet in French'),
    },
    {
      name: 'search_files',
      args: { pattern: 'hello' },
      label: 'search_files "hello"',
      expect: allowed('greet.ts'),
    },
    {
      name: 'read_file',
      args: { path: 'src/greet.ts' },
      label: 'read_file src/greet.ts',
      expect: allowed('hello'),
    },
    {
      name: 'patch_file',
      args: { path: 'src/greet.ts', hunks: [{ search: "'hello'", replace: "'bonjour'" }] },
      label: 'patch_file src/greet.ts',
      expect: allowed('greet.ts'),
    },
    {
      name: 'quote',
      args: {},
      label: 'quote (with a secret)',
      expect: allowed('[secret:demo/quotes/apiKey]'),
    },
    { name: 'runtime_version', args: {}, label: 'runtime_version node', expect: allowed('node v') },
    {
      name: 'curious',
      args: {},
      label: 'curious (declares {})',
      expect: allowed('accessors: none'),
    },
  ]);

  await runSteps('The coder, led astray', [
    {
      name: 'read_file',
      args: { path: '/etc/passwd' },
      label: 'read_file /etc/passwd',
      expect: refused('PATH_NOT_REACHABLE'),
    },
    {
      name: 'read_file',
      args: { path: 'innocent.txt' },
      label: 'read_file innocent.txt (a link)',
      expect: refused('PATH_NOT_REACHABLE'),
    },
    {
      name: 'quote',
      args: { path: '/trap' },
      label: 'quote /trap (a redirect)',
      expect: refused('HOST_NOT_ALLOWED'),
    },
    {
      name: 'nosy',
      args: {},
      label: 'nosy (undeclared secret)',
      expect: refused('SECRET_NOT_DECLARED'),
    },
    {
      name: 'runtime_version',
      args: { binary: 'curl' },
      label: 'runtime_version curl',
      expect: refused('BINARY_NOT_ALLOWED'),
    },
  ]);

  await runSteps(
    'The reader, which has less',
    [
      {
        name: 'read_file',
        args: { path: 'notes.md' },
        label: 'read_file notes.md',
        expect: allowed('Notes'),
      },
      { name: 'patch_file', args: {}, label: 'patch_file', expect: refused('not among the tools') },
      { name: 'quote', args: {}, label: 'quote', expect: refused('not among the tools') },
    ],
    { personality: 'reader' },
  );

  writeFileSync(join(world.workspace, 'notes.md'), '# Notes\n\nchanged behind its back\n');
  await runSteps('The coder, with an old copy of a file', [
    {
      name: 'write_file',
      args: { path: 'notes.md', content: 'mine' },
      label: 'write_file notes.md',
      expect: refused('STALE_WRITE'),
    },
  ]);

  const calls = Array.from({ length: 100 }, (_, index) => ({
    toolCallId: `${index}`,
    name: 'usage_counter',
    args: { topic: 'demo' },
  }));
  const begin = performance.now();
  const results = await runtime.execute(calls);
  const counts = results.map(({ result }) => Number(/(\d+) time/.exec(textOf(result))?.[1]));
  const [first = 0] = counts;
  assert.deepEqual(
    counts,
    calls.map((_, index) => first + index),
    'the counter lost an update',
  );
  process.stdout.write(
    `usage_counter, 100 calls in one batch: ${first} to ${counts.at(-1)} in ${(performance.now() - begin).toFixed(0)} ms, none lost; the next run goes on from there.\n`,
  );
  process.stdout.write(`Every access is in ${join(world.home, 'audit', 'audit.jsonl')}\n`);
} finally {
  await runtime.close();
  world.close();
}
