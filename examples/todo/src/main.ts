import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTodoTools } from '@ethosagent/tools-todo';
import type { ToolResult } from '@ethosagent/types';
import { createToolRuntime, type ExecuteOptions, type ToolRuntime } from '@ethosagent/wiring';

// An agent plans, works, is stopped in the middle, and goes on where it was.

const SESSION = 'release-1.2';
const home = mkdtempSync(join(tmpdir(), 'todo-example-'));
mkdirSync(join(home, 'personalities', 'releaser'), { recursive: true });
writeFileSync(
  join(home, 'personalities', 'releaser', 'config.yaml'),
  'name: Releaser\ntool_settings:\n  todo:\n    max_items: 5\n',
);

const start = () =>
  createToolRuntime({
    home,
    personality: 'releaser',
    sessionId: SESSION,
    tools: createTodoTools(),
  });

/** Runs one batch, and prints each call and its answer. */
async function batch(
  runtime: ToolRuntime,
  calls: readonly [name: string, args: object][],
  options?: ExecuteOptions,
): Promise<ToolResult[]> {
  const answers = await runtime.execute(
    calls.map(([name, args], index) => ({ toolCallId: String(index), name, args })),
    options,
  );
  for (const [index, { result }] of answers.entries()) {
    const [name, args] = calls[index] ?? [];
    const answer = result.ok ? result.value : `${result.code}: ${result.error}`;
    process.stdout.write(`> ${name} ${JSON.stringify(args)}\n${answer}\n\n`);
  }
  return answers.map(({ result }) => result);
}

function textOf(result: ToolResult | undefined): string {
  assert(result?.ok, JSON.stringify(result));
  return result.value;
}

try {
  let runtime = await start();
  await batch(runtime, [
    [
      'todo_set',
      {
        items: [
          { text: 'Run the tests', state: 'in_progress' },
          { text: 'Write the changelog', note: 'since the tag v1.1' },
          { text: 'Publish' },
        ],
      },
    ],
  ]);

  // Calls of one batch see what those before them did, also when they run in parallel.
  const [, second, added] = await batch(runtime, [
    ['todo_update', { items: [{ id: 't1', state: 'done' }] }],
    ['todo_update', { items: [{ id: 't2', state: 'in_progress' }] }],
    ['todo_add', { items: [{ text: 'Fix the flaky test' }], before: 't3' }],
  ]);
  assert(textOf(second).startsWith('Updated t2.'));
  assert(textOf(added).startsWith('Added t4 before t3.'));

  const [twoAtOnce, tooMany] = await batch(runtime, [
    ['todo_update', { items: [{ id: 't4', state: 'in_progress' }] }],
    ['todo_add', { items: [{ text: 'Announce' }, { text: 'Celebrate' }] }],
  ]);
  assert(twoAtOnce?.ok === false && twoAtOnce.error.includes('at most one may be'));
  assert(tooMany?.ok === false && tooMany.error.includes('at most 5 are allowed'));

  process.stdout.write('The process ends here, and another one goes on.\n\n');
  await runtime.close();
  runtime = await start();

  const [listing] = await batch(runtime, [['todo_list', {}]]);
  assert.equal(
    textOf(listing),
    [
      'Todo: 3 open (1 in progress), 1 done.',
      '[>] t2 Write the changelog',
      '      since the tag v1.1',
      '[ ] t4 Fix the flaky test',
      '[ ] t3 Publish',
    ].join('\n'),
  );

  const [dry] = await batch(runtime, [['todo_clear', {}]], { dryRun: true });
  assert(textOf(dry).startsWith('[dry-run] 4 items would be removed.'));
  const [finished] = await batch(runtime, [
    ['todo_update', { items: ['t2', 't4', 't3'].map((id) => ({ id, state: 'done' })) }],
  ]);
  assert(textOf(finished).endsWith('Todo: nothing open, 4 done.'));

  // Another session has a list of its own.
  const [other] = await batch(runtime, [['todo_list', { all: true }]], { sessionId: 'another' });
  assert.equal(textOf(other), 'The todo list is empty.');
  await runtime.close();
} finally {
  rmSync(home, { recursive: true, force: true });
}
