import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { createToolRuntime } from '@ethosagent/wiring';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CliIo } from '../cli-io.js';
import { openCliHome } from '../fixtures/cli-home.js';
import { type RecordedProgram, runRecorded } from '../fixtures/run-recorded.js';
import { runProgram } from '../run-program.js';

const CODER = `# For review.
name: Coder
toolset: [peek, poke] # both
fs_reach:
  read: ["\${CWD}"]
  write: ["\${CWD}"]
`;

const CONFIG = `
const schema = { type: 'object', properties: { path: { type: 'string' } } };
const tool = (name, kind, run) => ({
  name, description: name, schema, capabilities: { fs_reach: { [kind]: 'from-personality' } },
  async execute({ path }, ctx) {
    await run(ctx.scopedFs, path);
    return { ok: true, value: name };
  },
});
export default {
  cwd: CWD,
  tools: [
    tool('peek', 'read', (fs, path) => fs.read(path)),
    tool('poke', 'write', (fs, path) => fs.write(path, 'new')),
  ],
};
`;

let program: string;
let world: ReturnType<typeof openCliHome>;
beforeAll(async () => {
  program = await bundleScript(new URL('../fixtures/recorded-program.ts', import.meta.url));
}, 60_000);
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml': CODER,
    'notes/a.txt': 'hello',
    'secret.txt': 'hidden',
  });
  world.write('.ethos/ethos.config.mjs', CONFIG.replace('CWD', JSON.stringify(world.cwd)));
});
afterEach(() => world.remove());

const file = (id = 'coder') => join(world.home, 'personalities', id, 'config.yaml');
const text = (id?: string) => readFileSync(file(id), 'utf8');
const at = (name: string) => join(world.cwd, name);
const peek = (name: string) => ({ name: 'peek', args: { path: at(name) } });

/** A person at a terminal: gives the answers, and keeps the questions. */
const answering = (...answers: string[]) => {
  const asked: string[] = [];
  return {
    asked,
    ask: async (question: string) => {
      asked.push(question);
      return answers.shift();
    },
  };
};

interface RecordOptions {
  args?: string[];
  io?: Partial<CliIo>;
}

const recordWith = (what: RecordedProgram, { args = [], io = {} }: RecordOptions) =>
  world.run(['record', ...args, '--', process.execPath, program, JSON.stringify(what)], {
    env: { PATH: process.env.PATH },
    ...io,
  });

const programOf = (run: Partial<RecordedProgram>): RecordedProgram => ({
  personality: 'coder',
  calls: [peek('notes/a.txt')],
  ...run,
});

/** Records a program in its own process, as a user does. */
const recordProcess = (run: Partial<RecordedProgram>) =>
  recordWith(programOf(run), {
    io: { runProgram: (one) => runProgram({ ...one, outputToError: true }) },
  });

/** Records the same calls in this process, for tests that need no other one. */
function record(run: Partial<RecordedProgram>, options: RecordOptions = {}) {
  const what = programOf(run);
  const inThisProcess: CliIo['runProgram'] = async ({ env }) => {
    await runRecorded(what, env.ETHOS_HOME ?? '');
    return what.exitCode ?? 0;
  };
  return recordWith(what, { ...options, io: { runProgram: inThisProcess, ...options.io } });
}

describe('record', () => {
  it('shows what a program needs, and writes nothing by itself', async () => {
    const { code, out } = await recordProcess({});
    expect(code).toBe(0);
    expect(out).toContain('-toolset: [peek, poke] # both');
    expect(out).toMatch(/\+ {4}- \$\{CWD\}\/notes # 1 use/);
    expect(out).toContain('peek (1 call)');
    expect(out).toContain('tool poke: never called');
    expect(text()).toBe(CODER);
  });

  it('writes what was shown when a person agrees, and the same run passes then', async () => {
    const person = answering('y');
    const { code, err } = await record({}, { args: ['--write'], io: { ask: person.ask } });
    expect([code, person.asked.length]).toEqual([0, 1]);
    expect(err).toContain(`wrote ${file()}`);
    expect(text()).toContain('# For review.');
    expect(text()).not.toContain('poke');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const again = await record({}, { args: ['--json'] });
    const [{ diff, denied, unclear }] = JSON.parse(again.out).personalities;
    expect({ diff, denied, unclear }).toEqual({ diff: '', denied: [], unclear: [] });
    const other = await record({ calls: [peek('secret.txt')] }, { args: ['--json'] });
    expect(JSON.parse(other.out).personalities[0].denied).toHaveLength(1);
  });

  it.each([
    ['there is no terminal', {}, 0],
    ['the person says no', answering('n'), 0],
    ['the person says nothing', answering(), 0],
    ['the program failed', answering('y'), 3],
  ])('writes nothing where %s', async (_, io, exitCode) => {
    const { code } = await record({ exitCode }, { args: ['--write'], io });
    expect([code, text()]).toEqual([exitCode, CODER]);
  });

  it('writes nothing where the log was changed', async () => {
    await record({});
    const log = join(world.home, 'audit', 'audit.jsonl');
    world.write('.ethos/audit/audit.jsonl', readFileSync(log, 'utf8').replaceAll('a.txt', 'b.txt'));
    const person = answering('y');
    const { err } = await record({}, { args: ['--write'], io: { ask: person.ask } });
    expect(err).toContain('audit verify');
    expect([person.asked, text()]).toEqual([[], CODER]);
  });

  it('writes nothing over a file that changed since it was shown', async () => {
    const ask = async () => {
      world.write('.ethos/personalities/coder/config.yaml', `${CODER}# mine\n`);
      return 'y';
    };
    const { code, err } = await record({}, { args: ['--write'], io: { ask } });
    expect([code, text()]).toEqual([2, `${CODER}# mine\n`]);
    expect(err).toContain('was changed meanwhile');
  });

  it('tells what was refused, and grants it in no way', async () => {
    const calls = [peek('notes/a.txt'), { name: 'peek', args: { path: '/etc/hostname' } }];
    const person = answering('y');
    const { out } = await record({ calls }, { args: ['--write'], io: { ask: person.ask } });
    expect(out).toContain('Refused, and still refused');
    expect(out).toContain('/etc/hostname');
    expect(text()).not.toContain('/etc');
  });

  it.runIf(isLongRun())(
    'asks for each of two personalities, and takes the one that is named',
    async () => {
      world.write('.ethos/personalities/clerk/config.yaml', CODER.replace('Coder', 'Clerk'));
      await record({});
      await record({ personality: 'clerk', calls: [peek('secret.txt')] });
      const person = answering('n', 'y');
      const since = ['record', '--since', '2000-01-01', '--write'];
      await world.run(since, { ask: person.ask });
      expect(person.asked.map((question) => question.includes('clerk'))).toEqual([true, false]);
      expect(text('clerk')).toContain('poke');
      expect(text()).not.toContain('poke');
      const one = await world.run([...since, '--personality', 'clerk', '--json']);
      const { personalities } = JSON.parse(one.out);
      expect(personalities).toMatchObject([{ personality: 'clerk', toolset: [{ text: 'peek' }] }]);
    },
  );

  it.runIf(isLongRun())('takes one session of the logs', async () => {
    await record({});
    await record({ calls: [{ name: 'poke', args: { path: at('out/x.txt') } }] });
    const all = await world.run(['record', '--since', '2000-01-01', '--json']);
    const { sessions } = JSON.parse(all.out).personalities[0];
    expect(sessions).toHaveLength(2);
    const one = await world.run(['record', '--session', sessions[1].id, '--json']);
    expect(JSON.parse(one.out).personalities[0].toolset).toMatchObject([{ text: 'poke' }]);
  });

  it('leaves out what an agent does meanwhile that ran before, and says so', async () => {
    const { default: config } = await import(join(world.home, 'ethos.config.mjs'));
    const runtime = await createToolRuntime({ ...config, home: world.home, personality: 'coder' });
    try {
      const call = { toolCallId: 'other', ...peek('secret.txt') };
      await runtime.execute([call], { protections: 'none' });
      const meanwhile: CliIo['runProgram'] = async (one) => {
        await runtime.execute([call], { protections: 'none' });
        await runRecorded(programOf({}), one.env.ETHOS_HOME ?? '');
        return 0;
      };
      const { out, err } = await record({}, { args: ['--json'], io: { runProgram: meanwhile } });
      expect(err).toContain('events were left out');
      const [{ read, sessions }] = JSON.parse(out).personalities;
      expect(read).toMatchObject([{ text: '${CWD}/notes' }]);
      expect(sessions).toHaveLength(1);
    } finally {
      await runtime.close();
    }
  });

  it('shows a hostile name as text, and writes it as one name', async () => {
    const name = 'x\u001b[2J\n  - /etc\n# y';
    world.write(`${name}/a.txt`, 'x');
    const person = answering('y');
    const run = { calls: [peek(`${name}/a.txt`)] };
    const { out, err } = await record(run, { args: ['--write'], io: { ask: person.ask } });
    expect(out + err).not.toContain('\u001b');
    expect(out).not.toMatch(/^\s*- \/etc/m);
    const again = await record(run, { args: ['--json'] });
    const [{ read, diff }] = JSON.parse(again.out).personalities;
    expect([read.length, read[0].value, diff]).toEqual([1, at(name), '']);
  });

  it('does not name a path that passes a link', async () => {
    mkdirSync(at('real'));
    world.write('real/x.txt', 'x');
    symlinkSync(at('real'), at('link'));
    const { out } = await record({ calls: [peek('link/x.txt')] }, { args: ['--json'] });
    const [{ read, unclear }] = JSON.parse(out).personalities;
    expect(read).toEqual([]);
    expect(unclear[0].why).toContain('link');
  });

  it('passes Ctrl-C on, waits for the program, and gives its exit code', async () => {
    const began = at('began');
    const running = recordProcess({ waitsAt: began, exitCode: 7 });
    while (!existsSync(began)) await new Promise((resolve) => setImmediate(resolve));
    process.kill(process.pid, 'SIGINT');
    expect((await running).code).toBe(7);
  });

  it.each([
    [['record'], 'say what to run'],
    [['record', '--session', 'x', '--', 'ls'], 'leave out the program'],
    [['record', '--since', 'soon'], 'is no time'],
    [['record', '--since', '-1'], 'is no time'],
    [['record', '--session', 'nothing'], 'audit tail'],
    [['record', '--', 'no-such-program-here'], 'can not be started (ENOENT)'],
    [['record', '--', process.execPath, '-e', '0'], 'no call of a personality'],
  ])('refuses %j with exit code 2 and a hint', async (args, hint) => {
    const { code, err } = await world.run(args, { runProgram });
    expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
  });
});
