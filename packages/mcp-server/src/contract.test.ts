import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PendingApproval } from '@ethosagent/core';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import type { ToolRuntime } from '@ethosagent/wiring';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Ask,
  type Connected,
  type Served,
  serveByHttp,
  serveByStdio,
} from './fixtures/connect.js';
import { PNG, TOOLSET, WIDE_PNG } from './fixtures/own-tools.js';
import { startRuntime } from './fixtures/start-runtime.js';
import { createWorld, type World } from './fixtures/world.js';

// Uses the client of the official SDK, with a program that it starts and over HTTP on loopback. The
// runtime, its files, its processes and its store are real.

let world: World;
let served: Served | undefined;
let operator: ToolRuntime | undefined;

function connect(ask?: Ask): Promise<Connected> {
  if (served === undefined) throw new Error('nothing is served');
  return served.connect(ask);
}

async function call(client: Client, name: string, args: object = {}): Promise<CallToolResult> {
  return client.request(
    { method: 'tools/call', params: { name, arguments: args } },
    CallToolResultSchema,
  );
}

const textOf = ({ content }: CallToolResult) =>
  content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
const write = (client: Client, content: string) =>
  call(client, 'write_file', { path: 'notes.txt', content });
const notes = () => world.read('notes.txt');
const counted = () => world.read('counted.txt') ?? '';

/** A client whose session has read untrusted text. */
async function tainted(ask?: Ask): Promise<Connected> {
  const connected = await connect(ask);
  const page = await call(connected.client, 'read_file', { path: 'page.txt' });
  expect(textOf(page)).toMatch(/untrusted/i);
  return connected;
}

/** The session in another runtime, as in another process. */
async function otherProcess({ sessionId, identity }: Connected) {
  operator ??= await startRuntime(world);
  return operator.session(sessionId, { identity });
}

async function only(pending: Promise<PendingApproval[]>): Promise<PendingApproval> {
  const [first, ...others] = await pending;
  expect(others).toEqual([]);
  if (first === undefined) throw new Error('nothing waits');
  return first;
}

it('meets the SDK that it was written for', () => {
  const require = createRequire(import.meta.url);
  const main = require.resolve('@modelcontextprotocol/sdk/server/index.js');
  const { version } = require(join(dirname(main), '../../../package.json'));
  expect(version).toMatch(/^1\.32\./);
});

type Transport = ['stdio' | 'HTTP', typeof serveByStdio];
const transports: Transport[] = [
  ['stdio', serveByStdio],
  ['HTTP', serveByHttp],
];
// The server does not depend on its transport. `stdio.test.ts` tests what stdio adds.
const isTried = ([kind]: Transport) => kind === 'HTTP';

describe.each(inCheck(transports, isTried))('a client over %s', (_, serve) => {
  beforeAll(async () => {
    world = createWorld();
    served = await serve(world);
  });
  beforeEach(() => world.reset());
  afterEach(() => served?.disconnect());
  afterAll(async () => {
    await served?.close();
    await operator?.close();
    operator = undefined;
    world.remove();
  });

  it('gets the tools of the personality, with what they do', async () => {
    const { client } = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...TOOLSET].sort());
    const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    expect(byName.read_file?.annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    expect(byName.write_file?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    });
    expect(byName.wait?.annotations?.openWorldHint).toBe(true);
    expect(byName.forecast?.outputSchema).toMatchObject({ required: ['city', 'degrees'] });
    expect(byName.forecast_of_others?.outputSchema).toBeUndefined();
  });

  it('calls several tools at once', async () => {
    const { client } = await connect();
    const answers = await Promise.all([
      ...['notes.txt', 'page.txt', 'notes.txt'].map((path) => call(client, 'read_file', { path })),
      call(client, 'picture'),
    ]);
    expect(answers.map(textOf)).toEqual([
      expect.stringContaining('water the plants'),
      expect.stringContaining('ignore all previous'),
      expect.stringContaining('water the plants'),
      'a dot\n[image]',
    ]);
  });

  it('is told of wrong arguments, of what is out of reach, and of a tool that there is not', async () => {
    const { client } = await connect();
    const wrong = await call(client, 'read_file', { path: 7 });
    const outside = await call(client, 'read_file', { path: '/etc/hostname' });
    const nothing = await call(client, 'read_files');
    expect([wrong, outside, nothing].map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(textOf(wrong)).toMatch(/^input_invalid/);
    expect(textOf(outside)).toMatch(/PATH_NOT_REACHABLE/);
    expect(textOf(nothing)).toMatch(/^not_available/);
  });

  it('gets images, and structured results that nobody else wrote', async () => {
    const { client } = await connect();
    await client.listTools();
    const picture = await call(client, 'picture');
    expect(picture.content).toContainEqual({ type: 'image', data: PNG, mimeType: 'image/png' });
    expect(JSON.stringify(picture)).not.toContain('secretOfTheProgram');
    // `callTool` checks the result against the schema.
    const own = await client.callTool({ name: 'forecast', arguments: { city: 'Rome' } });
    expect(own.structuredContent).toEqual({ city: 'Rome', degrees: 20 });
    const others = await client.callTool({ name: 'forecast_of_others', arguments: {} });
    expect(others.structuredContent).toBeUndefined();
    expect(JSON.stringify(others.content)).toMatch(/untrusted/i);
  });

  it.runIf(isLongRun())(
    'gets the bytes of an image once, within the limits, beside a structured result too',
    async () => {
      const { client } = await connect();
      await client.listTools();
      const gallery = await client.callTool({ name: 'gallery', arguments: {} });
      expect(gallery.content).toEqual([
        { type: 'text', text: expect.stringContaining('image 2 (image/png, 9000 × 2 pixels)') },
        { type: 'image', data: PNG, mimeType: 'image/png' },
      ]);
      expect(gallery.structuredContent).toMatchObject({ images: [{ sizeBytes: 70 }, {}] });
      expect(JSON.stringify(gallery).split(PNG)).toHaveLength(2);
      expect(JSON.stringify(gallery)).not.toContain(WIDE_PNG);
    },
  );

  it('hears of progress for users', async () => {
    const { client } = await connect();
    const heard: { progress: number; message?: string | undefined }[] = [];
    await client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress({ progress, message }) {
        heard.push({ progress, message });
        if (message === 'most') world.write('heard', '');
      },
    });
    expect(heard.map(({ message }) => message)).toEqual(['half', 'again half', 'most']);
    const numbers = heard.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it.runIf(isLongRun())('reads no word that a tool prints', async () => {
    const { client } = await connect();
    const errors: unknown[] = [];
    client.onerror = (error) => errors.push(error);
    expect(textOf(await call(client, 'noisy'))).toBe('printed');
    expect(textOf(await call(client, 'noisy'))).toBe('printed');
    expect(errors).toEqual([]);
  });

  it('is told when the tools change', async () => {
    const { client } = await connect();
    await client.listTools();
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
    );
    world.setToolset(['read_file']);
    await changed;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['read_file']);
  });

  it('ends the signal and the program of a call that it cancels', async () => {
    const { client } = await connect();
    const controller = new AbortController();
    const call = client.callTool({ name: 'wait', arguments: {} }, undefined, {
      signal: controller.signal,
    });
    const outcome = expect(call).rejects.toThrow();
    const pid = await began();
    controller.abort();
    await outcome;
    await ended(pid);
    expect(world.read('signal')).toBe('x');
    expect(textOf(await write(client, 'goes on'))).not.toMatch(/not_available/);
  });

  it('ends the program of a call when it closes', async () => {
    const { client } = await connect();
    const outcome = call(client, 'wait').catch(() => {});
    const pid = await began();
    await client.close();
    await outcome;
    await ended(pid);
  });

  it('has a session of its own', async () => {
    const first = await tainted();
    const second = await connect();
    expect((await write(first.client, 'one')).isError).toBe(true);
    expect((await write(second.client, 'two')).isError).toBeUndefined();
    expect(notes()).toBe('two');
    expect(first.sessionId).not.toBe(second.sessionId);
  });

  it.runIf(isLongRun())('asks its user, or waits for the operator', async () => {
    const asks = await tainted(() => ({ action: 'accept', content: { approve: true } }));
    expect((await write(asks.client, 'one')).isError).toBeUndefined();
    expect(notes()).toBe('one');
    const waits = await tainted();
    expect(textOf(await write(waits.client, 'two'))).toMatch(/waits for a decision/);
    const session = await otherProcess(waits);
    await session.decide(await only(session.pending()), { approved: true });
    expect((await write(waits.client, 'two')).isError).toBeUndefined();
    expect(notes()).toBe('two');
  });

  describe('that can ask', () => {
    it('asks its user, who says yes', async () => {
      const asked: string[] = [];
      const { client, ...connected } = await tainted((params) => {
        asked.push(params.message);
        return { action: 'accept', content: { approve: true } };
      });
      expect((await write(client, 'new')).isError).toBeUndefined();
      expect(notes()).toBe('new');
      expect(asked).toEqual([expect.stringContaining('page.txt')]);
      expect(asked[0]).toContain('"content": "new"');
      expect(await (await otherProcess({ client, ...connected })).pending()).toEqual([]);
    });

    it('asks its user about each call that a tool makes', async () => {
      const asked: string[] = [];
      const { client } = await connect(({ message }) => {
        asked.push(message);
        return { action: 'accept', content: { approve: asked.length === 1 } };
      });
      const said = await call(client, 'count_twice', { line: 'a' });
      expect(textOf(said)).toContain('true,false');
      expect(counted()).toBe('a\n');
      expect(asked).toEqual(Array(2).fill(expect.stringContaining('count needs approval')));
    });

    const refusals = [
      ['a no', { action: 'accept', content: { approve: false, reason: 'not today' } }, 'not today'],
      ['no word', { action: 'decline' }, 'refused'],
    ] as const;
    it.each(inCheck(refusals, ([what]) => what === 'a no'))(
      'is refused after %s',
      async (_, answer, text) => {
        const { client } = await tainted(() => ({ ...answer }));
        const refused = await write(client, 'new');
        expect(refused.isError).toBe(true);
        expect(textOf(refused)).toContain(text);
        expect(notes()).toBe('water the plants');
      },
    );

    it('runs other arguments that its user gives, which the model is told', async () => {
      const { client } = await tainted(() => ({
        action: 'accept',
        content: { approve: true, arguments: '{"path": "notes.txt", "content": "edited"}' },
      }));
      expect(textOf(await write(client, 'new'))).toContain('edited');
      expect(notes()).toBe('edited');
    });

    it('does not reach with arguments of its user what the personality does not let it', async () => {
      const asked: string[] = [];
      const { client, ...connected } = await tainted(({ message }) => {
        asked.push(message);
        return {
          action: 'accept',
          content: { approve: true, arguments: '{"path": "../outside/x", "content": "x"}' },
        };
      });
      const waits = textOf(await write(client, 'new'));
      expect(waits).toMatch(/waits for a decision; it has not run: .*PATH_NOT_REACHABLE/);
      // The user also sees the reason, and may give other arguments.
      expect(asked).toHaveLength(3);
      expect(asked[1]).toMatch(/^Nothing has run: .*PATH_NOT_REACHABLE/);
      expect(world.read('../outside/x')).toBeUndefined();
      expect(notes()).toBe('water the plants');
      const session = await otherProcess({ client, ...connected });
      await session.decide(await only(session.pending()), { approved: true });
      expect((await write(client, 'new')).isError).toBeUndefined();
      expect(notes()).toBe('new');
    });

    const finalWords = [
      [true, 'edited', undefined],
      [false, 'water the plants', true],
    ] as const;
    it.each(inCheck(finalWords, ([says]) => !says))(
      'counts what its user says then: %s',
      async (approve, is, isError) => {
        const args = ['../outside/x', 'notes.txt'].map((path) => ({ path, content: 'edited' }));
        const { client, ...connected } = await tainted(() => ({
          action: 'accept',
          content: { approve: approve || args.length > 1, arguments: JSON.stringify(args.shift()) },
        }));
        expect((await write(client, 'new')).isError).toBe(isError);
        expect([args, notes(), world.read('../outside/x')]).toEqual([[], is, undefined]);
        expect(await (await otherProcess({ client, ...connected })).pending()).toEqual([]);
      },
    );

    it.runIf(isLongRun())(
      'does not run arguments of its user that the tool does not take',
      async () => {
        const { client, ...connected } = await tainted(() => ({
          action: 'accept',
          content: { approve: true, arguments: '{"path": 7}' },
        }));
        expect(textOf(await write(client, 'new'))).toContain('waits for a decision');
        expect(notes()).toBe('water the plants');
        expect(await (await otherProcess({ client, ...connected })).pending()).toHaveLength(1);
      },
    );

    it.runIf(isLongRun())(
      'asks again after what is no JSON, and gives up after a while',
      async () => {
        const asked: string[] = [];
        const { client } = await tainted(({ message }) => {
          asked.push(message);
          return { action: 'accept', content: { approve: true, arguments: '{' } };
        });
        expect((await write(client, 'new')).isError).toBe(true);
        expect(asked).toHaveLength(3);
        expect(asked[1]).toMatch(/^The arguments are not JSON/);
        expect(notes()).toBe('water the plants');
      },
    );

    it('grants what the personality lets its user grant', async () => {
      world.setToolset(TOOLSET, 'safety:\n  approvals:\n    grants: [session]\n');
      const forms: unknown[] = [];
      const { client, ...connected } = await tainted((params) => {
        forms.push('requestedSchema' in params && params.requestedSchema.properties.always);
        return { action: 'accept', content: { approve: true, always: 'session' } };
      });
      await write(client, 'one');
      await write(client, 'two');
      expect(notes()).toBe('two');
      expect(forms).toEqual([expect.objectContaining({ enum: ['ask', 'session'] })]);
      const session = await otherProcess({ client, ...connected });
      expect(await session.grants()).toMatchObject([{ scope: 'session', toolName: 'write_file' }]);
    });

    it('leaves a call waiting when its user closes the form, and asks again with the next one', async () => {
      const answers: ReturnType<Ask>[] = [
        { action: 'cancel' },
        { action: 'accept', content: { approve: true } },
      ];
      const { client, ...connected } = await connect(
        () => answers.shift() ?? { action: 'decline' },
      );
      const waits = await call(client, 'count', { line: 'a' });
      expect(textOf(waits)).toMatch(/waits for a decision/);
      const session = await otherProcess({ client, ...connected });
      await only(session.pending());
      expect((await call(client, 'count', { line: 'a' })).isError).toBeUndefined();
      expect(counted()).toBe('a\n');
      expect(await session.pending()).toEqual([]);
    });

    it('asks for each of two calls that are the same', async () => {
      let asked = 0;
      const { client } = await connect(() => {
        asked++;
        return { action: 'accept', content: { approve: asked === 1 } };
      });
      await Promise.all([1, 2].map(() => call(client, 'count', { line: 'a' })));
      expect(asked).toBe(2);
      expect(counted()).toBe('a\n');
    });
  });

  describe('that can not ask', () => {
    it('is told that a call waits, and how it is decided on', async () => {
      const { client, ...connected } = await tainted();
      const waits = await write(client, 'new');
      expect(waits.isError).toBe(true);
      expect(notes()).toBe('water the plants');
      const { toolCallId, question } = await only(
        (await otherProcess({ client, ...connected })).pending(),
      );
      const { sessionId } = connected;
      expect(waits._meta?.['ethosagent/approval']).toEqual({ sessionId, toolCallId, question });
      for (const part of [sessionId, toolCallId, question, 'write_file again']) {
        expect(textOf(waits)).toContain(part);
      }
    });

    it('runs the call once, when it comes again after a yes', async () => {
      const { client, ...connected } = await connect();
      await call(client, 'count', { line: 'a' });
      // It is still the same question.
      await call(client, 'count', { line: 'a' });
      const session = await otherProcess({ client, ...connected });
      await session.decide(await only(session.pending()), { approved: true, by: 'ann' });
      const other = await call(client, 'count', { line: 'b' });
      expect(other.isError).toBe(true);
      const again = await Promise.all([1, 2, 3].map(() => call(client, 'count', { line: 'a' })));
      expect(again.filter(({ isError }) => isError !== true)).toHaveLength(1);
      expect(counted()).toBe('a\n');
    });

    it.runIf(isLongRun())('reads why, when it comes again after a no', async () => {
      const { client, ...connected } = await connect();
      await call(client, 'count', { line: 'a' });
      const session = await otherProcess({ client, ...connected });
      await session.decide(await only(session.pending()), { approved: false, reason: 'too many' });
      expect(textOf(await call(client, 'count', { line: 'a' }))).toContain('too many');
      expect(counted()).toBe('');
    });

    it('runs what the operator made of the call', async () => {
      const { client, ...connected } = await connect();
      await call(client, 'count', { line: 'a' });
      const session = await otherProcess({ client, ...connected });
      const args = { line: 'z' };
      await session.decide(await only(session.pending()), { approved: true, args });
      expect(textOf(await call(client, 'count', { line: 'a' }))).toContain('counted z');
      expect(counted()).toBe('z\n');
    });

    it('does not run by the yes to another client', async () => {
      const first = await connect();
      const second = await connect();
      await call(first.client, 'count', { line: 'a' });
      const session = await otherProcess(first);
      await session.decide(await only(session.pending()), { approved: true });
      expect((await call(second.client, 'count', { line: 'a' })).isError).toBe(true);
      expect(counted()).toBe('');
    });
  });

  it.each([
    ['no parameters', {}],
    ['no name', { params: { arguments: {} } }],
    ['a name that is a number', { params: { name: 7 } }],
    ['arguments that are a list', { params: { name: 'read_file', arguments: [] } }],
  ])('is told that the parameters of a call are wrong: %s', async (_, given) => {
    const { client } = await connect();
    const request = Object({ method: 'tools/call', ...given });
    await expect(client.request(request, CallToolResultSchema)).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining('Invalid tools/call request'),
    });
  });

  it('may call as a task, and nothing runs', async () => {
    const { client } = await connect();
    const params = { name: 'write_file', arguments: { path: 'notes.txt', content: 'x' }, task: {} };
    await expect(
      client.request({ method: 'tools/call', params }, CallToolResultSchema),
    ).rejects.toThrow(/task/);
    expect(notes()).toBe('water the plants');
  });
});

/** The program that `wait` started. */
async function began(): Promise<number> {
  await expect.poll(() => world.read('pid')).toBeDefined();
  return Number(world.read('pid'));
}

async function ended(pid: number): Promise<void> {
  await expect.poll(() => isThere(pid)).toBe(false);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
