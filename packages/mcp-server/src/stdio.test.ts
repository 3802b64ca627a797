import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PNG, WIDE_PNG } from './fixtures/own-tools.js';
import { createWorld, type World } from './fixtures/world.js';

// A program without an SDK on the other end: tests what it writes and how it ends.

let script: string;
let world: World;
let program: ChildProcess;
let lines: string[];

beforeAll(async () => {
  script = await bundleScript(new URL('./fixtures/stdio-program.ts', import.meta.url));
});
beforeEach(() => {
  world = createWorld();
  lines = [];
});
afterEach(() => {
  program.kill('SIGKILL');
  world.remove();
});

function start(): ChildProcess {
  program = spawn(process.execPath, [script, world.home, world.work, 's'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (program.stdout !== null)
    createInterface(program.stdout).on('line', (line) => lines.push(line));
  return program;
}

const send = (message: object) =>
  program.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answerTo = (id: number) =>
  expect.poll(() => lines.some((line) => JSON.parse(line).id === id)).toBe(true);
const call = (id: number, name: string) =>
  send({ id, method: 'tools/call', params: { name, arguments: {} } });

async function initialize(): Promise<void> {
  start();
  const clientInfo = { name: 'hand', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  send({ id: 0, method: 'initialize', params });
  await answerTo(0);
  send({ method: 'notifications/initialized' });
}

/** The program that the tool `wait` started. */
async function began(): Promise<number> {
  await expect.poll(() => world.read('pid')).toBeDefined();
  return Number(world.read('pid'));
}

const isThere = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('a program over stdio', () => {
  it('writes messages alone to its output, and the rest to the errors', async () => {
    await initialize();
    let errors = '';
    program.stderr?.on('data', (data) => {
      errors += data;
    });
    call(1, 'noisy');
    await answerTo(1);
    program.stdin?.end();
    await once(program, 'close');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual([0, 1]);
    expect(errors).toContain('printed by a tool');
    expect(errors).toContain('forged');
  });

  it.runIf(isLongRun())('goes on after what is no message', async () => {
    await initialize();
    program.stdin?.write('no JSON\n{"jsonrpc":"2.0"}\n[]\n');
    call(1, 'gallery');
    await answerTo(1);
    program.stdin?.end();
    expect(await once(program, 'exit')).toEqual([0, null]);
    // The image within the limits, and a line instead of the other one.
    const said = lines.join('\n');
    expect(said.split(PNG)).toHaveLength(2);
    expect(said).not.toContain(WIDE_PNG);
    expect(said).toMatch(
      /image 2 .* is left out: .* 8000 pixels a side.*@ethosagent\/image-scaler/,
    );
  });

  it('says what it could not read', async () => {
    await initialize();
    program.stdin?.write('no JSON\n[]\n{"jsonrpc":"2.0","id":{},"method":"ping"}\n');
    send({ id: 1, method: 'ping', params: { _meta: { progressToken: {} } } });
    // A client that sends back what it gets is not answered again.
    send({ error: { code: -32700, message: 'Parse error' } });
    send({ id: 2, method: 'ping' });
    await answerTo(2);
    const errors = lines.slice(1, -1).map((line) => JSON.parse(line).error);
    expect(errors.map(({ code }) => code)).toEqual([-32700, -32600, -32600, -32600]);
    expect(errors[1].message).toContain('alone on its line');
    program.stdin?.on('error', () => {});
    program.stdin?.write('x'.repeat(11_000_000));
    expect(await once(program, 'close')).toEqual([0, null]);
    expect(lines.at(-1)).toMatch(/-32600.*so the session ends.*10485760 bytes/);
  });

  it('takes many requests at once without a warning', async () => {
    await initialize();
    let errors = '';
    program.stderr?.on('data', (data) => {
      errors += data;
    });
    const requests = Array.from({ length: 500 }, (_, id) =>
      JSON.stringify({ jsonrpc: '2.0', id: id + 1, method: 'tools/list' }),
    );
    program.stdin?.end(`${requests.join('\n')}\n`);
    await once(program, 'close');
    expect(errors).not.toContain('MaxListeners');
  });

  it('ends, with what it started, when its input closes', async () => {
    await initialize();
    call(1, 'wait');
    const pid = await began();
    program.stdin?.end();
    expect(await once(program, 'exit')).toEqual([0, null]);
    expect(world.read('signal')).toBe('x');
    await expect.poll(() => isThere(pid)).toBe(false);
  });

  it('answers its calls when it closes by itself', async () => {
    await initialize();
    call(1, 'wait');
    const pid = await began();
    program.kill('SIGINT');
    await answerTo(1);
    expect(lines.at(-1)).toContain('the turn was aborted while this call ran');
    await expect.poll(() => isThere(pid)).toBe(false);
  });

  it('takes no second request with the id of one that is not answered', async () => {
    await initialize();
    call(1, 'wait');
    const pid = await began();
    call(1, 'wait');
    await answerTo(1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ id: 1, error: { code: -32600 } });
    // The client withdraws the first one, and may then use its id again.
    send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await expect.poll(() => isThere(pid)).toBe(false);
    for (let time = 0; time < 2; time++) {
      call(1, 'picture');
      await expect.poll(() => lines.filter((line) => line.includes('a dot')).length).toBe(time + 1);
    }
    program.stdin?.end();
    expect(await once(program, 'exit')).toEqual([0, null]);
  });

  it.runIf(isLongRun())('ends when nobody reads its output', async () => {
    await initialize();
    call(1, 'wait');
    await began();
    program.stdout?.destroy();
    call(2, 'picture');
    expect(await once(program, 'exit')).toEqual([0, null]);
  });

  it.runIf(isLongRun())('ends when a message is longer than may be', async () => {
    await initialize();
    program.stdin?.on('error', () => {});
    program.stdin?.write('x'.repeat(11_000_000));
    expect(await once(program, 'exit')).toEqual([0, null]);
  });

  it.runIf(isLongRun())('leaves nothing running when it is killed', async () => {
    await initialize();
    call(1, 'wait');
    const pid = await began();
    program.kill('SIGKILL');
    await once(program, 'exit');
    await expect.poll(() => isThere(pid)).toBe(false);
  });
});
