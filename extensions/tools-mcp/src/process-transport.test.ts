import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createWorld } from './fixtures/world.js';
import { ProcessTransport } from './process-transport.js';
import { unaskedChars } from './token-bucket.js';

it('says how a server ended that takes no more input', async () => {
  const { registry } = createWorld({ servers: {} });
  const { scopedProcess } = await registry.openService(
    { name: 'hub', capabilities: { process: { allowedBinaries: ['sh'] } } },
    {},
  );
  const transport = new ProcessTransport(
    async (onOutput) => {
      if (scopedProcess === undefined) throw new Error('there are no processes');
      // It closes its input, is sent messages all the same, and then ends.
      return scopedProcess.open('sh', ['-c', 'exec 0<&-; sleep 0.3; exit 3'], { onOutput });
    },
    // On a busy machine, it takes its time.
    { maxMessageChars: 1_000, messagesPerSecond: 1, unasked: unaskedChars(), endGraceMs: 600_000 },
  );
  await transport.start();
  const sendMany = async () => {
    for (;;) {
      await transport.send({ jsonrpc: '2.0', method: 'hello' });
      await setImmediate();
    }
  };
  await expect(sendMany()).rejects.toThrow();
  expect(transport.ended).toBe('it exited with code 3');
});

it('reads the next message when what nobody asked for is paid', async () => {
  const { registry } = createWorld({ servers: {} });
  const { scopedProcess } = await registry.openService(
    { name: 'hub', capabilities: { process: { allowedBinaries: ['sh'] } } },
    {},
  );
  let asked = 0;
  const transport = new ProcessTransport(
    async (onOutput) => {
      if (scopedProcess === undefined) throw new Error('there are no processes');
      const line = '{"jsonrpc":"2.0","method":"x"}';
      return scopedProcess.open('sh', ['-c', `echo '${line}'; echo '${line}'`], { onOutput });
    },
    {
      maxMessageChars: 1_000,
      messagesPerSecond: 100,
      unasked: { take: () => (asked++ === 0 ? 0 : 60_000_000) },
    },
  );
  const read: unknown[] = [];
  transport.onmessage = (message) => read.push(message);
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await expect.poll(() => asked).toBe(2);
  expect(read).toHaveLength(1);
  await transport.close();
  await closed;
  expect(read).toHaveLength(1);
});
