import { setImmediate } from 'node:timers/promises';
import type { ProcessConnection, ProcessResult, SpawnOpts } from '@ethosagent/types';
import { describe, expect, it, onTestFinished } from 'vitest';
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

it('waits once for the end of a server, however many messages it did not take', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  let exit = (_result: { exitCode: number }) => {};
  const transport = new ProcessTransport(
    async () =>
      Object({
        result: new Promise((resolve) => {
          exit = resolve;
        }),
        write: () => Promise.reject(new Error('closed')),
      }),
    { maxMessageChars: 1_000, messagesPerSecond: 1, unasked: unaskedChars(), endGraceMs: 600_000 },
  );
  await transport.start();
  const sent = Array.from({ length: 50 }, () =>
    transport.send({ jsonrpc: '2.0', method: 'hello' }),
  );
  // Node warns in the next turn of its loop.
  await setImmediate();
  exit({ exitCode: 3 });
  expect((await Promise.allSettled(sent)).map(({ status }) => status)).not.toContain('fulfilled');
  expect(transport.ended).toBe('it exited with code 3');
  expect(warnings).toEqual([]);
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

/** A transport over a process in this one, which the test speaks for. */
async function fakeProcess(more: Partial<ProcessConnection> = {}) {
  let onOutput: SpawnOpts['onOutput'];
  let stops = 0;
  const transport = new ProcessTransport(
    async (given) => {
      onOutput = given;
      return {
        result: new Promise<ProcessResult>(() => {}),
        write: async () => {},
        end: () => {},
        stop: async () => void stops++,
        ...more,
      };
    },
    { maxMessageChars: 1_000, messagesPerSecond: 1, unasked: unaskedChars(), endGraceMs: 0 },
  );
  await transport.start();
  return {
    transport,
    stops: () => stops,
    says: (text: string) => void onOutput?.(text, 'stderr'),
  };
}

describe('ProcessTransport.stderr', () => {
  it('is the last whole lines', async () => {
    const { transport, says } = await fakeProcess();
    says(`${'a'.repeat(1_500)}\n`);
    says(`${'b'.repeat(1_000)}\n`);
    says('half');
    expect(transport.stderr).toBe(`${'b'.repeat(1_000)}\nhalf`);
  });

  it('has no part of a line that is too long, however it comes', async () => {
    const { transport, says } = await fakeProcess();
    says(`${'a'.repeat(1_999)}hunter`);
    expect(transport.stderr).toBe('');
    says('2 and more');
    expect(transport.stderr).toBe('');
    says(` of it\nthe next line\n`);
    expect(transport.stderr.trim()).toBe('the next line');
  });
});

it('a server that does not read what it is sent is stopped', async () => {
  const { transport, stops } = await fakeProcess({ write: () => new Promise(() => {}) });
  const message = { jsonrpc: '2.0' as const, method: 'x', params: { text: 'x'.repeat(1_000_000) } };
  for (let at = 0; at < 15; at++) void transport.send(message);
  expect(stops()).toBe(0);
  await expect(transport.send(message)).rejects.toMatchObject({ code: 'NETWORK_FAILED' });
  expect([stops(), transport.ended]).toEqual([1, 'it does not read what it is sent']);
});
