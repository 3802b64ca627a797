import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentLoop } from '@ethosagent/agent-loop';
import { createToolRuntime } from '@ethosagent/wiring';
import { modelOfTasks } from './model-of-tasks.js';

// A lead gives work to sub-agents. One has a narrower personality; one is told to be an
// administrator, and is still held to what the lead may; two work in the background.

const home = mkdtempSync(join(tmpdir(), 'delegation-example-'));
const project = join(home, 'project');
const outside = join(home, 'payroll');
for (const folder of [join(project, 'notes'), outside]) mkdirSync(folder, { recursive: true });
writeFileSync(join(project, 'plan.md'), 'Ship on Friday.\n');
const personality = (id: string, lines: string[]) => {
  mkdirSync(join(home, 'personalities', id), { recursive: true });
  writeFileSync(join(home, 'personalities', id, 'config.yaml'), `${lines.join('\n')}\n`);
};
personality('lead', [
  'name: Lead',
  'toolset: [file, delegation]',
  `fs_reach: { read: ["${project}"], write: ["${project}/notes"] }`,
]);
personality('scout', ['name: Scout', 'toolset: [read_file]', `fs_reach: { read: ["${project}"] }`]);
personality('admin', [
  'name: Administrator',
  'toolset: [file]',
  `fs_reach: { read: ["${project}", "${outside}"], write: ["${project}", "${outside}"] }`,
]);

const runtime = await createToolRuntime({
  home,
  personality: 'lead',
  cwd: project,
  tools: ['read_file', 'write_file', 'task', 'task_start', 'task_status', 'task_result'],
});
const { model, offered } = modelOfTasks({
  'Look at the plan.': [
    [['task', { prompt: 'When do we ship?', personality: 'scout' }]],
    'We ship on Friday, says the scout.',
  ],
  'When do we ship?': [[['read_file', { path: 'plan.md' }]], 'On Friday.'],
  'Pay everybody more.': [
    [['task', { prompt: 'Write the payroll.', personality: 'admin' }]],
    'That is not for me to change.',
  ],
  'Write the payroll.': [
    [['write_file', { path: join(outside, 'pay.md'), content: 'More.' }]],
    [['write_file', { path: join(project, 'plan.md'), content: 'Never.' }]],
    [['write_file', { path: 'notes/asked.md', content: 'Somebody asked for more.' }]],
    'I could only leave a note.',
  ],
  'Ask around.': [
    [
      ['task_start', { prompt: 'Ask the left one.' }],
      ['task_start', { prompt: 'Ask the right one.' }],
    ],
    'They are on it.',
  ],
  'Ask the left one.': ['Left says yes.'],
  'Ask the right one.': ['Right says no.'],
  'What did they say?': [[['task_status', {}]], 'Both are done.'],
});
const loop = new AgentLoop({
  model,
  tools: runtime,
  sessions: runtime.sessions,
  // It is also asked for sub-agents, here when their turn has read a file.
  approve: ({ toolName, sessionId, reason }) => {
    process.stdout.write(`? ${toolName} of ${sessionId.replace(/-.*/, '')}: ${reason}\n`);
    return true;
  },
});

/** Runs a turn, prints what happens, and returns what the tools answered. */
async function say(prompt: string): Promise<string> {
  process.stdout.write(`\n# ${prompt}\n`);
  let answers = '';
  for await (const event of loop.run({ sessionId: 'story', prompt })) {
    if (event.type === 'tool_progress') process.stdout.write(`  … ${event.message}\n`);
    if (event.type === 'text') process.stdout.write(`${event.text}\n`);
    if (event.type !== 'tool_end') continue;
    const { toolName, result } = event;
    const text = result.ok ? result.value : `${result.code}: ${result.error}`;
    process.stdout.write(`> ${toolName}: ${text.replaceAll(home, '~')}\n`);
    answers += `${text}\n`;
  }
  return answers;
}

try {
  const scouted = await say('Look at the plan.');
  assert.match(scouted, /: done \(2 model calls, 1 tool call\)\n\nOn Friday\./);
  assert.deepEqual(offered('When do we ship?'), ['read_file']);

  // An administrator in name only: it may do what both personalities allow, which is to write a note.
  await say('Pay everybody more.');
  assert(!existsSync(join(outside, 'pay.md')));
  assert.equal(readFileSync(join(project, 'plan.md'), 'utf8'), 'Ship on Friday.\n');
  assert(existsSync(join(project, 'notes', 'asked.md')));
  assert.deepEqual(offered('Write the payroll.'), ['read_file', 'write_file']);

  await say('Ask around.');
  const isDone = (text: string) => (text.match(/: done/g) ?? []).length === 2;
  while (!isDone(await say('What did they say?'))) await new Promise((next) => setImmediate(next));
} finally {
  await loop.close();
  await runtime.close();
  rmSync(home, { recursive: true });
}
