import assert from 'node:assert/strict';
import { AgentLoop, type TurnDone } from '@ethosagent/agent-loop';
import { type ScriptedStep, scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createToolRuntime } from '@ethosagent/wiring';
import { createWorld } from '../../ledger/src/index.js';

// A clerk reads an invoice from outside, and then writes. The invoice may have told it to write, so each
// write waits for a person. Every part of the story has its own runtime and loop, as separate processes would.
// The waiting calls are in the session store.

const world = createWorld();
const sessionId = 'ledger';

async function withLoop<T>(
  steps: ScriptedStep[],
  work: (loop: AgentLoop) => Promise<T>,
): Promise<T> {
  const runtime = await createToolRuntime({
    ...world.options,
    tools: ['read_file', 'write_file'],
  });
  const loop = new AgentLoop({
    model: scriptedModel(steps),
    tools: runtime,
    sessions: runtime.sessions,
  });
  try {
    return await work(loop);
  } finally {
    await loop.close();
    await runtime.close();
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function resumed(loop: AgentLoop): Promise<TurnDone> {
  for await (const event of loop.resume({ sessionId })) {
    if (event.type === 'tool_end') {
      const { result } = event;
      say(`  ${event.toolName}: ${result.ok ? result.value : result.error}`);
    }
    if (event.type === 'done') return event;
  }
  throw new Error('the turn has no end');
}

try {
  say('The clerk reads, and wants to write:');
  await withLoop(
    [
      [
        ['read_file', { path: 'invoice.txt' }],
        ['read_file', { path: 'ledger.txt' }],
      ],
      [
        ['write_file', { path: 'ledger.txt', content: '' }],
        ['write_file', { path: 'ledger.txt', content: 'invoice 6: 12\ninvoice 7: 40\n' }],
      ],
    ],
    async (loop) => {
      const done = await loop.ask({ sessionId, prompt: 'Enter the invoice.' });
      assert.equal(done.end, 'paused');
      assert.equal(await loop.state(sessionId), 'paused');
    },
  );
  assert.equal(world.ledger(), world.before);

  say('Somebody looks at what waits, and decides:');
  await withLoop([], async (loop) => {
    const waiting = await loop.pending(sessionId);
    assert.equal(waiting.length, 2);
    for (const approval of waiting) {
      const { toolName, args, reason } = approval;
      const approved = JSON.stringify(args).includes('invoice 7');
      say(`  ${approved ? 'yes' : 'no'} to ${toolName} ${JSON.stringify(args)}: ${reason}`);
      await loop.decide(sessionId, approval, { approved, reason: 'nothing is to be lost' });
    }
  });
  assert.equal(world.ledger(), world.before);

  say('The clerk goes on:');
  await withLoop(['The invoice is entered.'], async (loop) => {
    const done = await resumed(loop);
    say(`  ${done.text}`);
    assert.equal(done.end, 'answered');
    assert.equal(await loop.state(sessionId), 'idle');
  });
  assert.equal(world.ledger(), 'invoice 6: 12\ninvoice 7: 40\n');
} finally {
  await world.close();
}
