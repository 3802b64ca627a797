import { startRedis, type TestRedis } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createBullmqEngine } from './bullmq-engine.js';

describe('createBullmqEngine', () => {
  const wrong: Record<string, Array<string | number>> = {
    queue: ['', 'a:b', '../etc'],
    answerMs: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31],
    keepJobs: [-1, 0.5, Number.NaN],
  };
  for (const [option, values] of Object.entries(wrong)) {
    it.each(values)(`refuses ${option} %j before it connects`, (value) => {
      // Nothing listens there. If a connection were opened, the process would keep trying.
      const connection = 'redis://127.0.0.1:1';
      let error: unknown;
      try {
        createBullmqEngine({ connection, [option]: value });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(option),
      });
    });
  }
});

it.each<[string, unknown]>([
  ['no options', undefined],
  ['no connection', {}],
  ['an empty address', { connection: '' }],
  ['a promise of an address', { connection: Promise.resolve('redis://127.0.0.1:1') }],
])('createBullmqEngine refuses %s, and does not connect to this machine', (_what, options) => {
  const create: (options: unknown) => unknown = Object(createBullmqEngine);
  expect(() => create(options)).toThrow(
    'CONFIG_INVALID: createBullmqEngine: connection must be the address of Redis',
  );
});

it('createBullmqEngine refuses a misspelt option, and does not connect', () => {
  const options = { connection: 'redis://127.0.0.1:1', keepJob: 0 };
  expect(() => createBullmqEngine(options)).toThrow(
    'CONFIG_INVALID: createBullmqEngine: there is no option "keepJob"; there are connection, queue, prefix, answerMs, keepJobs',
  );
});

describe('a worker that is closed', () => {
  const turn = { id: 't', sessionId: 's', priority: 0, delayMs: 0, taking: 0 };

  it.each<[string, (redis: TestRedis) => unknown]>([
    ['is gone', (redis) => redis.end('SIGKILL')],
    ['does not answer', (redis) => redis.signal('SIGSTOP')],
  ])('waits for its turn, and not for a Redis that %s', async (_, breaks) => {
    const redis = await startRedis();
    try {
      const connection = redis.path;
      const engine = createBullmqEngine({ connection, answerMs: 50 });
      const sender = createBullmqEngine({ connection, answerMs: 60_000 });
      let begin = () => {};
      const began = new Promise<void>((resolve) => {
        begin = resolve;
      });
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const worker = await engine.work({
        concurrency: 1,
        async runNext() {
          begin();
          await finished;
        },
      });
      await sender.enqueue(turn);
      await sender.close();
      await began;
      await breaks(redis);
      const said: string[] = [];
      const closed = worker.close().then(() => said.push('closed'));
      setImmediate(() => {
        said.push('finished');
        finish();
      });
      await closed;
      expect(said).toEqual(['finished', 'closed']);
      await engine.close();
    } finally {
      await redis.stop();
    }
  });
});
