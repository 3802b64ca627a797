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
