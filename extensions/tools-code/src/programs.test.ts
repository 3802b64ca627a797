import { ok } from '@ethosagent/plugin-sdk';
import { errorOf, structuredOf } from '@ethosagent/plugin-sdk/testing';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createProgramsWorld, echo, plainTool, printed } from './fixtures/programs-world.js';

const settings = { tools: ['echo', 'refuse', 'not-a-name'] };
const refuse = plainTool('refuse', async () => ({
  ok: false,
  code: 'execution_failed',
  error: 'no',
}));
const odd = plainTool('not-a-name', echo.execute);
const world = (more: object = {}) =>
  createProgramsWorld({ settings: { ...settings, ...more }, tools: [refuse, odd] });

const JAVASCRIPT = `
const all = await Promise.all([1, 2, 3].map((n) => tools.echo({ n })));
const { text, structured } = await tools.echo.full({ 'ä😀': '\\n' });
console.log(all.join(' '), text, JSON.stringify(structured));
console.log(await tools['not-a-name']({}), Object.keys(tools).join());
for (const attempt of [() => tools.refuse(), () => tools.run_code({}), () => tools.constructor()]) {
  try { await attempt(); } catch (error) {
    console.log(error instanceof ToolError, error.code, error.message.split(':').at(-1).slice(0, 12));
  }
}
console.log(tools.__proto__ === undefined ? 'none' : 'some');
export {};
`;

const PYTHON = `
all = [tools.echo(n=n) for n in (1, 2, 3)]
full = tools.echo.full(**{'ä😀': '\\n'})
import json
print(*all, full['text'], json.dumps(full['structured'], ensure_ascii=False, separators=(',', ':')))
print(tools['not-a-name'](), ','.join(dir(tools)))
for name in ('refuse', 'run_code', 'constructor'):
    try:
        getattr(tools, name)()
    except ToolError as error:
        print('true', error.code, str(error).split(':')[-1][:12])
print('some' if hasattr(tools, '__proto__') else 'none')
`;

describe('a program that calls tools', () => {
  it.each([
    ['javascript', JAVASCRIPT.replace('tools.__proto__ === undefined', 'probe()')] as const,
    ['python', PYTHON] as const,
  ])('in %s gets results, and errors with codes', async (language, code) => {
    const { run, inner } = world();
    const probe =
      'const probe = () => { try { return tools.__proto__ === undefined } catch { return true } };\n';
    const result = await run(language, language === 'javascript' ? probe + code : code);
    expect(printed(result).split('\n')).toEqual([
      '{"n":1} {"n":2} {"n":3} {"ä😀":"\\n"} {"got":{"ä😀":"\\n"}}',
      `{} ${language === 'python' ? 'echo,not-a-name,refuse' : 'echo,refuse,not-a-name'}`,
      'true execution_failed no',
      expect.stringMatching(/^true TOOL_NOT_CALLABLE/),
      expect.stringMatching(/^true TOOL_NOT_CALLABLE/),
      'none',
    ]);
    expect(inner()).toEqual([
      ...Array(4).fill('echo ok'),
      'not-a-name ok',
      'refuse execution_failed',
    ]);
    expect(structuredOf(result)).toMatchObject({ calls: 6 });
  });
});

/** Sends a line as it is, and shows what comes back. */
const RAW = `
import socket, sys
host = socket.socket(fileno=4)
def send(line):
    host.sendall(line.encode() + b'\\n')
def rest():
    text = ''
    for line in host.makefile('rb'):
        text += line.decode()
        if '"end"' in text or 'NOT_CALLABLE' in text:
            break
    return text
`;

describe('a program that talks with the host by itself', () => {
  const ATTACKS: [what: string, code: string, answer: RegExp][] = [
    [
      'uses an id again',
      'send(\'{"id":1,"tool":"echo","args":{}}\'); send(\'{"id":1,"tool":"echo","args":{}}\')',
      /"end":true,"code":"PROGRAM_INVALID"/,
    ],
    [
      'names a parent',
      'send(\'{"id":1,"tool":"echo","args":{},"parentCallId":"x","toolCallId":"y"}\')',
      /^{"end":true,"code":"PROGRAM_INVALID"/,
    ],
    ['sends no JSON', "send('echo')", /^{"end":true,"code":"PROGRAM_INVALID"/],
    [
      'sends a line without an end',
      "host.sendall(b'x' * (2 << 20))",
      /^{"end":true,"code":"PROGRAM_INVALID"/,
    ],
    [
      'calls what is not listed',
      'send(\'{"id":1,"tool":"run_code","args":{}}\'); host.shutdown(1)',
      /^{"id":1,"ok":false,"code":"TOOL_NOT_CALLABLE"/,
    ],
  ];

  it.each(isLongRun() ? ATTACKS : ATTACKS.slice(1, 2))('and %s', async (_, code, answer) => {
    const { run, inner } = world();
    const attempt = `${RAW}\ntry:\n    ${code}\nexcept OSError:\n    pass\nprint(rest())`;
    expect(printed(await run('python', attempt))).toMatch(answer);
    expect(inner().length).toBeLessThanOrEqual(1);
  });

  it('makes no more calls than it may, nor more at once', async () => {
    let now = 0;
    let most = 0;
    let allArrived = () => {};
    const arrived = new Promise<void>((resolve) => {
      allArrived = resolve;
    });
    const slow = plainTool('slow', async () => {
      most = Math.max(most, ++now);
      // On a busy machine, one call would end before the next one arrives.
      if (now === 3) allArrived();
      await arrived;
      await new Promise(setImmediate);
      now -= 1;
      return ok('x');
    });
    const { run, inner } = createProgramsWorld({
      settings: { tools: ['slow'], max_calls: 20, max_calls_at_once: 3 },
      tools: [slow],
    });
    const code = `
const settled = await Promise.allSettled(Array.from({ length: 2_000 }, () => tools.slow()));
console.log(settled.filter(({ status }) => status === 'fulfilled').length <= 20);
console.log(new Set(settled.flatMap(({ reason }) => reason?.code ?? [])).size);
console.log(await tools.slow().catch(({ code }) => code));
export {};
`;
    expect(printed(await run('javascript', code))).toBe('true\n1\nPROGRAM_LIMIT');
    expect(inner().length).toBeLessThanOrEqual(20);
    expect(most).toBe(3);
  });
});

describe('the calls of a program', () => {
  const never = plainTool('never', () => new Promise(() => {}));
  const forked = `
import os
print(tools.echo())
if os.fork() == 0:
    try:
        print(tools.echo())
    except ToolError as error:
        print(error.code, flush=True)
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    # Not by what the program was given, which forgets a child, but by the descriptor.
    at = 1000
    while True:
        at += 1
        try:
            os.write(4, b'{"id":%d,"tool":"echo","args":{}}\\n' % at)
        except BrokenPipeError:
            # Its channel is closed before it is ended, and it must not write of that to stderr.
            os._exit(0)
os.wait()
`;

  it('end with it, whatever it leaves behind', async () => {
    const { run, inner } = world();
    const result = await run('python', forked);
    expect(printed(result)).toBe('{}\nCALL_ENDED');
    const made = inner().length;
    await new Promise(setImmediate);
    expect(inner()).toHaveLength(made);
  });

  it('end with the turn, and are told of as aborted', async () => {
    const turn = new AbortController();
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const waiting = plainTool('waiting', () => {
      begun();
      return new Promise(() => {});
    });
    const { run, inner } = createProgramsWorld({
      settings: { tools: ['waiting'] },
      tools: [waiting],
    });
    const running = run('python', 'tools.waiting()', { abortSignal: turn.signal });
    await isBegun;
    turn.abort();
    expect(errorOf(await running)).toContain('aborted');
    while (inner().length === 0) await new Promise(setImmediate);
    expect(inner()).toEqual(['waiting CALL_ABORTED']);
  });

  it.runIf(isLongRun())('end when its time is up', async () => {
    const { run, inner } = createProgramsWorld({
      settings: { tools: ['never'] },
      tools: [never],
    });
    const result = await run('javascript', 'await tools.never(); export {};', { timeoutMs: 2_000 });
    expect(errorOf(result)).toContain('did not end within 2 s');
    expect(inner()).toEqual(['never CALL_ABORTED']);
  });

  it.runIf(isLongRun())('give no more than a program can take', async () => {
    const huge = plainTool('huge', async () =>
      ok('x', { structured: { all: 'x'.repeat(9 << 20) } }),
    );
    const { run } = createProgramsWorld({ settings: { tools: ['huge'] }, tools: [huge] });
    const code = 'try:\n    tools.huge()\nexcept ToolError as error:\n    print(error.code)';
    expect(printed(await run('python', code))).toBe('PROGRAM_LIMIT');
  });
});

describe('a program without tools', () => {
  it.runIf(isLongRun())('has no descriptor, and no word of them', async () => {
    const { run } = createProgramsWorld({ settings: {} });
    const code =
      'import os\nprint(os.path.exists("/proc/self/fd/4"), "tools" in dir(__builtins__))';
    expect(printed(await run('python', code))).toBe('False False');
  });
});
