import { MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolsetHome } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createToolRuntime } from './tool-runtime.js';

it('ToolSession.refuse runs nothing, answers no question, and leaves one event', async () => {
  const { home, remove } = createToolsetHome('pay');
  const audit = new MemoryAuditSink();
  const paid: number[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ amount: z.number() }),
    capabilities: {},
    requiresApproval: true,
    async execute({ amount }) {
      paid.push(amount);
      return ok('paid');
    },
  });
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [pay], audit });
  try {
    const session = runtime.session('s');
    const call = { toolCallId: 'a', name: 'pay', args: { amount: 1 } };
    const [asked] = await session.execute([call]);
    await session.decide(asked?.approval ?? expect.fail('nothing waits'), { approved: true });
    // The same call was approved, and is now refused elsewhere.
    const refused = await session.refuse(call, { code: 'not_available', error: 'no such tool' });
    expect(refused).toMatchObject({ text: 'not_available: no such tool', result: { ok: false } });
    expect([paid, (await session.pending()).length]).toEqual([[], 1]);
    const event = { toolCallId: 'a', toolName: 'pay', outcome: 'not_available', sessionId: 's' };
    expect(audit.calls).toMatchObject([{ ...event, gate: 'answerByHost' }]);
    const hostile = Object.defineProperty({}, 'name', { get: () => expect.fail('read') });
    await expect(
      session.refuse(Object(hostile), { code: 'input_invalid', error: 'x' }),
    ).resolves.toMatchObject({ result: { ok: false } });
    const refuse: (...given: unknown[]) => unknown = Object(session.refuse.bind(session));
    await expect(refuse({ ...call, toolCallId: 'b' })).resolves.toMatchObject({
      text: 'not_available: the host refused the call, and gave no reason',
    });
    await session.resume();
    expect(paid).toEqual([1]);
  } finally {
    await runtime.close();
    remove();
  }
});
