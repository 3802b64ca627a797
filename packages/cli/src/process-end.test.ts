import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bundleScript, inCheck, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

let bin: string;
let world: ReturnType<typeof openCliHome>;
beforeAll(async () => {
  bin = await bundleScript(new URL('./bin.ts', import.meta.url));
});
beforeEach(() => {
  world = openCliHome({ '.ethos/personalities/coder/config.yaml': 'name: Coder\n' });
});
afterEach(() => world.remove());

const start = (...args: string[]) => watch(process.execPath, [bin, ...args]);
const watch = (file: string, args: string[]) => {
  const program = spawn(file, args, { cwd: world.cwd });
  let shown = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      shown += text;
    });
  }
  const ended = once(program, 'close');
  return {
    program,
    ended,
    shown: () => shown,
    /** Waits until the command has written a text. @throws if it ends without that */
    async until(text: string) {
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!shown.includes(text)) {
        if (isOver) throw new Error(`it ended, and wrote: ${shown}`);
        await Promise.race([once(program.stdout, 'data'), once(program.stderr, 'data'), ended]);
      }
    },
  };
};

describe('Ctrl-C', () => {
  // A command that survives Ctrl-C. It reads the input that follows, and then ends by itself.
  const waiting = `process.stderr.write('waiting');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.unref();`;

  it.each(inCheck(['tools', 'check', 'lock'], (command) => command === 'check'))(
    'ends the command %s, which has nothing to finish, at once',
    async (command) => {
      world.write('.ethos/ethos.config.mjs', `${waiting} export default { tools: [] };`);
      const { program, ended, until } = start(command);
      await until('waiting');
      program.kill('SIGINT');
      program.stdin.on('error', () => {});
      program.stdin.write('go on\n');
      expect(await ended).toEqual([null, 'SIGINT']);
    },
  );

  it('aborts the tool that a call runs, and the command tells its answer', async () => {
    world.write(
      '.ethos/ethos.config.mjs',
      `export default { tools: [{
        name: 'wait', description: 'Waits.', capabilities: {}, schema: { type: 'object', properties: {} },
        execute: (_, { abortSignal }) => new Promise((resolve) => {
          const timer = setInterval(() => {}, 1_000);
          abortSignal.addEventListener('abort', () => {
            clearInterval(timer);
            resolve({ ok: true, value: 'the tool was told' });
          });
          process.stderr.write('waiting');
        }),
      }] };`,
    );
    const { program, ended, until, shown } = start('call', 'wait');
    await until('waiting');
    program.kill('SIGINT');
    expect(await ended).toEqual([1, null]);
    expect(shown()).toMatch(/abort/);
  });
});

it('ends when its work is done, whatever the configuration has left open', async () => {
  world.write(
    '.ethos/ethos.config.mjs',
    `console.log('hello'); setInterval(() => {}, 1_000); export default { tools: [] };`,
  );
  const program = spawn(process.execPath, [bin, 'tools', '--json'], { cwd: world.cwd });
  const output = text(program.stdout);
  expect(await once(program, 'exit')).toEqual([0, null]);
  expect(JSON.parse(await output)).toBeDefined();
});

it.each([
  ['an error that nobody catches', 'setTimeout(() => { throw new Error("late"); }, 1);'],
  ['a promise that is rejected', 'void Promise.reject(new Error("late"));'],
])('fails with %s in the configuration', async (_what, code) => {
  const waits = 'await new Promise((done) => setTimeout(done, 50)); export default {};';
  world.write('.ethos/ethos.config.mjs', `${code} ${waits}`);
  const { ended, shown } = start('check');
  // 1 would say that it found something.
  expect(await ended).toEqual([2, null]);
  expect(shown()).toMatch(/error: Error: late/);
});

it('finds an entry that is no tool', async () => {
  world.write('.ethos/ethos.config.mjs', 'export default { tools: [undefined] };');
  const { ended, shown } = start('check');
  expect(await ended).toEqual([1, null]);
  expect(shown()).toMatch(/tools\[0\] is undefined, and neither a tool nor a name/);
});

it.runIf(existsSync('/dev/full'))('fails if its answer can not be written', async () => {
  const { ended, shown } = watch('/bin/sh', [
    '-c',
    `exec '${process.execPath}' '${bin}' tools >/dev/full`,
  ]);
  expect(await ended).toEqual([2, null]);
  expect(shown()).toBe(
    'error: the output could not be written (ENOSPC); free or change its place\n',
  );
});

it.skipIf(process.platform === 'win32')('says that its folder was removed', async () => {
  const { ended, shown } = watch('/bin/sh', [
    '-c',
    `mkdir gone && cd gone && rmdir ../gone && exec '${process.execPath}' '${bin}' tools`,
  ]);
  expect(await ended).toEqual([2, null]);
  expect(shown()).toBe(
    'error: the folder of this terminal does not exist any more; change to another one\n',
  );
});

it('fails, and says why, if the configuration waits for what never comes', async () => {
  world.write('.ethos/ethos.config.mjs', 'await new Promise(() => {}); export default {};');
  const { ended, shown } = start('check');
  expect(await ended).toEqual([2, null]);
  expect(shown()).toMatch(/waits for a promise that nothing settles/);
});

it.each(
  inCheck(
    [
      ['the configuration', 'check', 'process.exit(0); export default {};'],
      [
        'a tool',
        'call',
        `export default { tools: [{
          name: 'quit', description: 'Quits.', capabilities: {}, schema: { type: 'object', properties: {} },
          async execute() { process.exit(0); },
        }] };`,
      ],
    ],
    ([who]) => who === 'the configuration',
  ),
)('fails, and says why, if %s ends the process', async (_who, command, config) => {
  world.write('.ethos/ethos.config.mjs', config);
  const { ended, shown } = start(command, ...(command === 'call' ? ['quit'] : []));
  expect(await ended).toEqual([2, null]);
  expect(shown()).toMatch(/process\.exit was called before the command was done/);
});

// On Linux, `script` provides a terminal.
describe.runIf(process.platform === 'linux')('Ctrl-C at a question', () => {
  const atTerminal = (command: string) =>
    watch('script', [
      '-qefc',
      `stty cols 80 rows 24; exec '${process.execPath}' '${bin}' ${command}`,
      '/dev/null',
    ]);

  it('ends the command by the signal, and stores nothing', async () => {
    const { program, ended, until, shown } = atTerminal('secrets set KEY --file');
    await until('Value of KEY');
    program.stdin.write('half\u0003');
    expect(await ended).toEqual([130, null]);
    expect(shown()).not.toMatch(/error|empty/);
    expect(existsSync(join(world.home, 'secrets'))).toBe(false);
  });

  it.each([
    ['secrets set KEY --file', 'Value of KEY', 2],
    ['chat', 'You', 0],
  ])('Ctrl-D ends %s as well', async (command, question, code) => {
    world.write('.ethos/ethos.config.mjs', 'export default { tools: [] };');
    const { program, ended, until, shown } = atTerminal(command);
    await until(question);
    program.stdin.write('\u0004');
    expect(await ended).toEqual([code, null]);
    expect(shown()).not.toMatch(/promise/);
    expect(existsSync(join(world.home, 'secrets', 'KEY'))).toBe(false);
  });

  it.runIf(isLongRun())('is no Escape, which leaves the question without an answer', async () => {
    const { program, ended, until, shown } = atTerminal('secrets set KEY --file');
    await until('Value of KEY');
    program.stdin.write('\u001b');
    expect(await ended).toEqual([2, null]);
    expect(shown()).toContain('nothing was stored');
  });
});

describe('a reader that has gone', () => {
  it('ends a command that was not done, without a trace of the stack', async () => {
    world.write(
      '.ethos/ethos.config.mjs',
      `process.stderr.write('waiting');
      await new Promise((resolve) => process.stdin.once('data', resolve));
      process.stdin.unref();
      export default { tools: [] };`,
    );
    const { program, ended, until, shown } = start('check');
    await until('waiting');
    program.stdout.destroy();
    program.stdin.write('go on\n');
    expect(await ended).toEqual([2, null]);
    expect(shown()).toBe('waiting');
  });
});

// Here and not in the same process, since vitest compiles what it imports.
describe('an ethos.config whose import fails', () => {
  it.each(
    inCheck(
      [
        ['\nconst made = tol({});', 'tol is not defined', ' (%:2)'],
        ["\nimport { ok } from 'node:fs';", "export named 'ok'", ' (%:2)'],
        ['const made = (;', "Unexpected token ';'", '; to see the line, run the file with node'],
      ],
      ([text]) => !text.includes('import'),
    ),
  )('is told with the place: %s', async (text, why, place) => {
    world.write('.ethos/ethos.config.mjs', "import '../my tool.mjs';\nexport default {};");
    world.write('my tool.mjs', text);
    const { ended, shown } = start('tools');
    expect(await ended).toEqual([2, null]);
    expect(shown()).toContain(why);
    expect(
      shown()
        .trimEnd()
        .endsWith(place.replace('%', join(world.cwd, 'my tool.mjs'))),
    ).toBe(true);
  });
});
