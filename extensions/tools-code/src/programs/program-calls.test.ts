import { ok } from '@ethosagent/plugin-sdk';
import type { ProcessChannel, ScopedCalls, ToolResult } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { MAX_CALL_BYTES } from './program-call.js';
import { ProgramCalls } from './program-calls.js';

/** A channel on which a program has written these pieces, and what it was sent. */
function channelOf(pieces: readonly string[]) {
  const sent: string[] = [];
  let isRead = false;
  let closed = false;
  const channel: ProcessChannel = {
    received: (async function* () {
      for (const piece of pieces) {
        if (closed) return;
        yield Buffer.from(piece);
        await new Promise(setImmediate);
      }
      isRead = true;
    })(),
    send: async (text) => {
      sent.push(text);
    },
    close: () => {
      closed = true;
    },
  };
  return { channel, sent, isRead: () => isRead };
}

async function serve(pieces: readonly string[], limits = { maxCalls: 100, maxCallsAtOnce: 8 }) {
  const made: [name: string, args: unknown][] = [];
  const calls: ScopedCalls = {
    tools: ['echo'],
    call: async (name, args): Promise<ToolResult> => {
      made.push([name, args]);
      return ok('answer');
    },
  };
  const { channel, sent, isRead } = channelOf(pieces);
  const program = new ProgramCalls(calls, limits);
  program.serve(channel);
  const isEnded = () => sent.some((text) => text.startsWith('{"end":true'));
  while (!isEnded() && !(isRead() && sent.length === made.length)) {
    await new Promise(setImmediate);
  }
  await program.end();
  return { made, sent: sent.map((line) => JSON.parse(line)), count: program.count };
}

const line = (id: unknown, rest: object = {}) =>
  `${JSON.stringify({ id, tool: 'echo', args: {}, ...rest })}\n`;

describe('ProgramCalls', () => {
  it('takes a call in whatever pieces it comes', async () => {
    const text = line(1, { args: { a: 'ä😀' } }) + line(2);
    const pieces = [text.slice(0, 5), text.slice(5, 20), text.slice(20)];
    const { made } = await serve([...pieces, '']);
    expect(made).toEqual([
      ['echo', { a: 'ä😀' }],
      ['echo', {}],
    ]);
  });

  it.each([
    ['no JSON', 'x\n'],
    ['an empty line', '\n'],
    ['a list', '[]\n'],
    ['null', 'null\n'],
    ['no id', '{"tool":"echo","args":{}}\n'],
    ['an id of zero', line(0)],
    ['an id that is no whole number', line(1.5)],
    ['an id that is a text', line('1')],
    ['an id beyond what a number holds', '{"id":1e400,"tool":"echo","args":{}}\n'],
    ['a tool that is no text', line(1, { tool: ['echo'] })],
    ['arguments that are a list', line(1, { args: [] })],
    ['a parent', line(1, { parentCallId: 'x' })],
    ['a result', line(1, { ok: true })],
    ['a line that is too long', 'x'.repeat(MAX_CALL_BYTES + 1)],
  ])('ends with %s', async (_, text) => {
    const { made, sent, count } = await serve([text, line(7), line(8)]);
    expect(made).toEqual([]);
    expect(sent).toEqual([{ end: true, code: 'PROGRAM_INVALID', error: expect.any(String) }]);
    expect(count).toBe(0);
  });

  it.each([
    ['the same', 2],
    ['an earlier one', 1],
  ])('ends with an id that is %s', async (_, id) => {
    const { made, sent } = await serve([line(2), line(id), line(3)]);
    expect(made).toHaveLength(1);
    expect(sent.at(-1)).toMatchObject({ end: true, code: 'PROGRAM_INVALID' });
  });

  it('hands on no prototype', async () => {
    const { made } = await serve([
      '{"id":1,"tool":"__proto__","args":{"__proto__":{"polluted":true}}}\n',
      '',
    ]);
    expect(made.map(([name]) => name)).toEqual(['__proto__']);
    expect(Object(made[0]?.[1]).polluted).toBeUndefined();
  });

  it('ends after as many calls as it may make', async () => {
    const { made, sent } = await serve(
      [1, 2, 3, 4].map((id) => line(id)),
      {
        maxCalls: 2,
        maxCallsAtOnce: 8,
      },
    );
    expect(made).toHaveLength(2);
    expect(sent.at(-1)).toMatchObject({ end: true, code: 'PROGRAM_LIMIT' });
  });
});
