import { Worker } from 'node:worker_threads';
import { tries, withEnoughTime } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { runThread } from './run-thread.js';

const never = new AbortController().signal;
const START = "const { parentPort, workerData } = require('node:worker_threads');";
const job = (program: string, timeoutMs = 3_600_000) => ({
  program: START + program,
  data: { word: 'hello' },
  heapMb: 64,
  timeoutMs,
});
const say = (value: string, isLast: boolean) =>
  `parentPort.postMessage({ value: ${value}, isLast: ${isLast} });`;

describe('runThread', () => {
  it.each([
    ['a thread that says its last word', say('workerData.word', true), 'hello', 'done'],
    ['one that loops after its first word', `${say('1', false)} for (;;);`, 1, 'time'],
    [
      'one that takes memory after its first word',
      `${say('1', false)} const all = []; for (;;) all.push('x'.repeat(99) + all.length);`,
      1,
      'memory',
    ],
    ['one that ends without a word', '', undefined, 'failure'],
    ['one that throws', 'throw new Error("no")', undefined, 'failure'],
    ['one that says something else', 'parentPort.postMessage("x")', undefined, 'failure'],
  ])('gives what came of %s', async (_, program, value, end) => {
    const outcome = await withEnoughTime(
      (timeoutMs) => runThread(job(program, end === 'time' ? timeoutMs : undefined), never),
      (outcome) => outcome.value === value,
    );
    expect(outcome).toEqual({ value, end });
  });

  it('ends a thread that goes on after its last word', async () => {
    const terminate = vi.spyOn(Worker.prototype, 'terminate');
    onTestFinished(() => terminate.mockRestore());
    await runThread(job(`${say('1', true)} setInterval(() => {}, 9);`), never);
    expect(terminate).toHaveBeenCalledTimes(1);
  });

  it('ends with the signal, and leaves the process free meanwhile', async () => {
    const turn = new AbortController();
    setTimeout(() => turn.abort(new Error('enough')), 50);
    await expect(runThread(job('for (;;);'), turn.signal)).rejects.toThrow('enough');
    await expect(runThread(job(''), turn.signal)).rejects.toThrow('enough');
  });

  it('runs four at a time, whatever is asked for', async () => {
    const now = () => Number(process.hrtime.bigint() / 1_000_000n);
    const span =
      'const from = Number(process.hrtime.bigint() / 1000000n); setTimeout(() => {' +
      `${say('[from, Number(process.hrtime.bigint() / 1000000n)]', true)} }, 200);`;
    const start = now();
    const outcomes = await Promise.all(
      Array.from({ length: tries({ check: 6, long: 9 }) }, () => runThread(job(span), never)),
    );
    const spans = outcomes.map(({ value }) => z.tuple([z.int(), z.int()]).parse(value));
    for (const [from] of spans) {
      expect(from).toBeGreaterThanOrEqual(start);
      const atOnce = spans.filter(([begin, end]) => begin <= from && from < end);
      expect(atOnce.length).toBeLessThanOrEqual(4);
    }
  });

  it('gives the thread nothing of the environment', async () => {
    const { value } = await runThread(job(say('Object.keys(process.env)', true)), never);
    expect(value).toEqual([]);
  });
});

describe('a thread that waits for messages', () => {
  const answer = `${START} let count = 0; parentPort.on('message', (text) => { count += 1;
    if (text === 'loop') for (;;); if (text === 'throw') throw new Error('no');
    parentPort.postMessage({ value: text + count, isLast: true }); });`;
  const ask = (message: string, name: string, timeoutMs = 3_600_000) =>
    runThread({ program: answer, data: { name }, message, heapMb: 64, timeoutMs }, never);

  it('is gone after a job that did not come to its end', async () => {
    expect(await ask('a', 'ends')).toMatchObject({ value: 'a1' });
    // It is kept, so that what comes next is about one that was.
    expect(await ask('a', 'ends')).toMatchObject({ value: 'a2' });
    expect(await ask('loop', 'ends', 500)).toMatchObject({ end: 'time' });
    expect(await ask('b', 'ends')).toMatchObject({ value: 'b1' });
    expect(await ask('throw', 'ends')).toMatchObject({ end: 'failure' });
    expect(await ask('c', 'ends')).toMatchObject({ value: 'c1' });
  });

  it('is used again by the next job of its kind, one at a time', async () => {
    expect(await ask('a', 'one')).toEqual({ value: 'a1', end: 'done' });
    expect(await ask('b', 'one')).toEqual({ value: 'b2', end: 'done' });
    expect(await ask('c', 'other')).toEqual({ value: 'c1', end: 'done' });
    const both = await Promise.all([ask('d', 'one'), ask('e', 'one')]);
    expect(both.map(({ value }) => value)).toEqual(['d3', 'e1']);
  });
});
