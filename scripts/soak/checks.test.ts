import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ToolCallResult } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { checkBatch, Findings } from './checks.js';
import { flatness, type Sample, socketTexts } from './samples.js';

// A soak without findings only proves something if its checks find real faults.

const world = {
  base: '/nowhere',
  home: '/nowhere',
  work: '/nowhere',
  outside: '/nowhere',
  outsideCanary: 'outside-canary',
  secret: 'sec/ret+"=',
  marker: 'marker',
  personalities: [],
  sessions: [
    { id: 'a', canary: 'canary-a' },
    { id: 'b', canary: 'canary-b' },
  ],
  remove: () => {},
};
const calls = [
  { toolCallId: '1', name: 'one', args: {} },
  { toolCallId: '2', name: 'two', args: {} },
];
const answer = (toolCallId: string, name: string, value: string): ToolCallResult => ({
  toolCallId,
  name,
  result: { ok: true, value },
});

function found(results: ToolCallResult[], said = ''): string[] {
  const findings = new Findings();
  checkBatch(findings, world, { own: 'canary-a', calls, results, said });
  return findings.lines();
}

describe('checkBatch', () => {
  it('finds nothing off in honest answers', () => {
    expect(found([answer('1', 'one', 'canary-a'), answer('2', 'two', '')])).toEqual([]);
  });

  it.each([
    ['an answer that is missing', [answer('1', 'one', '')], ''],
    ['answers out of order', [answer('2', 'two', ''), answer('1', 'one', '')], ''],
    ['another session', [answer('1', 'one', 'canary-b'), answer('2', 'two', '')], ''],
    ['another session in an event', [answer('1', 'one', ''), answer('2', 'two', '')], 'canary-b'],
    ['a file from outside', [answer('1', 'one', 'outside-canary'), answer('2', 'two', '')], ''],
    ['the canary server', [answer('1', 'one', 'CANARY'), answer('2', 'two', '')], ''],
    ...[
      world.secret,
      Buffer.from(world.secret).toString('base64'),
      Buffer.from(world.secret).toString('hex'),
      encodeURIComponent(world.secret),
    ].map((form): [string, ToolCallResult[], string] => [
      `the secret as ${form}`,
      [answer('1', 'one', form), answer('2', 'two', '')],
      '',
    ]),
  ])('finds %s', (_what, results, said) => {
    expect(found(results, said)).not.toEqual([]);
  });
});

describe('flatness', () => {
  const sample = (changes: Partial<Sample>): Sample => ({
    heap: 30,
    rss: 200,
    descriptors: 40,
    sockets: 10,
    timers: 0,
    processes: 0,
    'temporary files': 0,
    ...changes,
  });
  const rising = (measure: keyof Sample, step: number) =>
    Array.from({ length: 20 }, (_, index) =>
      sample({ [measure]: sample({})[measure] + index * step }),
    );

  it('passes what stays, and one peak', () => {
    const findings = new Findings();
    flatness([...rising('heap', 0).slice(1), sample({ heap: 500 })], findings);
    expect(findings.lines()).toEqual([]);
  });

  it.each<[keyof Sample, number]>([
    ['heap', 1],
    ['rss', 5],
    ['descriptors', 1],
    ['sockets', 2],
    ['timers', 1],
    ['processes', 1],
    ['temporary files', 1],
  ])('finds that %s grows by %i each time', (measure, step) => {
    const findings = new Findings();
    flatness(rising(measure, step), findings);
    expect(findings.lines()).toEqual([expect.stringContaining(`${measure} is not flat`)]);
  });
});

describe.runIf(existsSync('/proc/self/net/tcp'))('socketTexts', () => {
  it('says what a connection joins, and what a server listens at', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const client = connect(port, '127.0.0.1');
    await new Promise<void>((connected) => client.once('connect', connected));
    const { localPort } = client;
    const texts = socketTexts();
    client.destroy();
    (await accepted).destroy();
    server.close();
    expect(texts).toContain(`tcp ${port} → 0 in state 0A`);
    expect(texts).toContain(`tcp ${localPort} → ${port} in state 01`);
  });
});
