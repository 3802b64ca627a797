import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginCall } from './fixtures/begun-call.js';
import { openCliHome } from './fixtures/cli-home.js';

const CODER = `name: Coder
toolset: [read_file, write_file]
fs_reach:
  read: ["\${CWD}/notes"]
  write: ["\${CWD}/notes"]
`;
const READ = '{"path":"notes/a.txt"}';
const WRITE = '{"path":"notes/b.txt","content":"x"}';

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml': CODER,
    'notes/a.txt': 'hello',
    'secret.txt': 'not for tools',
  });
});
afterEach(() => world.remove());

const textOf = (name: string) => readFileSync(join(world.cwd, name), 'utf8');
const json = async (...args: string[]) => JSON.parse((await world.run([...args, '--json'])).out);
/** Makes a write wait in a session of the runtime. */
const waitInSession = async (session: string, args = WRITE): Promise<string> => {
  await world.run(['call', 'read_file', READ, '--session', session]);
  const { approval } = await json('call', 'write_file', args, '--session', session);
  return approval.toolCallId;
};
/** Makes a write wait in a turn of the agent. */
const waitInTurn = async (session: string): Promise<string> => {
  await world.run(['run', `read_file ${READ}`, '--session', session]);
  const { out } = await world.run(['run', `write_file ${WRITE}`, '--session', session, '--json']);
  const done = JSON.parse(out.trim().split('\n').at(-1) ?? '');
  return done.approvals[0].toolCallId;
};
const answering = (...answers: string[]) => ({ ask: async () => answers.shift() });

describe.each([
  ['a session', waitInSession],
  ['a turn of the agent', waitInTurn],
])('approvals of %s', (what, wait) => {
  // These ask the same of both: where a call waits is found before.
  const inBoth = it.runIf(isLongRun() || what === 'a session');

  it('are listed and shown with what is asked, and run once they are approved', async () => {
    const id = await wait('s');
    const { waiting, problems } = await json('approvals', 'list');
    expect(problems).toEqual([]);
    expect(waiting).toHaveLength(1);
    expect(waiting[0]).toMatchObject({
      number: 1,
      sessionId: 's',
      approval: { toolCallId: id, toolName: 'write_file', personalityId: 'coder' },
    });
    const shown = await world.run(['approvals', 'show', '1']);
    expect(shown.code).toBe(0);
    for (const text of [id, 'notes/b.txt', 'notes/a.txt', join(world.cwd, 'notes'), 'coder']) {
      expect(shown.out).toContain(text);
    }
    const approved = await world.run(['approvals', 'approve', id, '--reason', 'fine'], {
      user: 'ada',
    });
    expect([approved.code, existsSync(join(world.cwd, 'notes/b.txt'))]).toEqual([0, false]);
    expect((await json('approvals', 'show', id)).approval.decision).toMatchObject({
      approved: true,
      reason: 'fine',
      by: 'ada at the terminal',
    });
    expect((await world.run(['approvals', 'list'])).out).toBe('nothing waits\n');
    expect((await world.run(['sessions', 'resume', 's'])).code).toBe(0);
    expect(textOf('notes/b.txt')).toBe('x');
    expect((await world.run(['approvals', 'show', id])).code).toBe(2);
  });

  it('do not run once they are refused, and the first decision holds', async () => {
    const id = await wait('s');
    expect((await world.run(['approvals', 'refuse', '1'])).code).toBe(0);
    const late = await world.run(['approvals', 'approve', id]);
    expect([late.code, late.err]).toEqual([2, expect.stringContaining('decided')]);
    await world.run(['sessions', 'resume', 's']);
    expect(existsSync(join(world.cwd, 'notes/b.txt'))).toBe(false);
  });

  inBoth('never run once they are withdrawn, decided or not', async () => {
    const id = await wait('s');
    expect((await world.run(['approvals', 'approve', id])).code).toBe(0);
    expect(await json('approvals', 'withdraw', id)).toMatchObject({
      sessionId: 's',
      withdrawn: true,
    });
    const again = await world.run(['approvals', 'withdraw', id]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('approvals list')]);
    await world.run(['sessions', 'resume', 's']);
    expect(existsSync(join(world.cwd, 'notes/b.txt'))).toBe(false);
    const next = await wait('t');
    const { code, out } = await world.run(['approvals', 'withdraw', '1', '--session', 't']);
    expect([code, out]).toEqual([0, `withdrew write_file ${next} of the session t\n`]);
    expect((await world.run(['approvals', 'list'])).out).toBe('nothing waits\n');
  });

  inBoth('run with the arguments that they were changed to', async () => {
    const id = await wait('s');
    expect((await world.run(['approvals', 'edit', id, '--args', '{"path":1}'])).code).toBe(2);
    expect((await world.run(['approvals', 'edit', id, '--args', '{path}'])).code).toBe(2);
    expect((await world.run(['approvals', 'edit', id])).code).toBe(2);
    expect((await json('approvals', 'list')).waiting).toHaveLength(1);
    const readInput = async () => '{"path":"notes/c.txt","content":"y"}';
    expect((await world.run(['approvals', 'edit', id], { readInput })).code).toBe(0);
    expect((await world.run(['sessions', 'resume', 's'])).code).toBe(0);
    expect(textOf('notes/c.txt')).toBe('y');
    expect(existsSync(join(world.cwd, 'notes/b.txt'))).toBe(false);
  });

  it('reach no more with other arguments', async () => {
    const id = await wait('s');
    const outside = '{"path":"secret.txt","content":"y"}';
    const refused = await world.run(['approvals', 'approve', id, '--args', outside]);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('write not permitted for');
    const { out } = await world.run(['approvals', 'list', '--json']);
    expect(out).toContain(id);
    expect(textOf('secret.txt')).toBe('not for tools');
  });

  inBoth('are said always to where the personality lets it', async () => {
    const id = await wait('s');
    const never = CODER.concat('safety: { approvals: { grants: [arguments] } }\n');
    world.write('.ethos/personalities/coder/config.yaml', never);
    const refused = await world.run(['approvals', 'approve', id, '--always', 'tool']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('grants')]);
    expect((await world.run(['approvals', 'approve', id, '--always', 'ever'])).code).toBe(2);
    world.write('.ethos/personalities/coder/config.yaml', CODER);
    expect((await world.run(['approvals', 'approve', id, '--always', 'session'])).code).toBe(0);
    expect((await world.run(['sessions', 'resume', 's'])).code).toBe(0);
    const again = ['call', 'write_file', '{"path":"notes/d.txt","content":"d"}', '--session', 's'];
    expect((await world.run(again)).code).toBe(0);
    expect(textOf('notes/d.txt')).toBe('d');
  });
});

describe('approvals', () => {
  it('named by a number are shown before they are approved, and need a terminal', async () => {
    const id = await waitInSession('s');
    const script = await world.run(['approvals', 'approve', '1']);
    expect([script.code, script.err]).toEqual([2, expect.stringContaining(id)]);
    const no = await world.run(['approvals', 'approve', '1'], answering('n'));
    expect([no.code, no.err]).toEqual([2, expect.stringContaining('notes/b.txt')]);
    expect((await json('approvals', 'list')).waiting).toHaveLength(1);
    expect((await world.run(['approvals', 'approve', '1'], answering('y'))).code).toBe(0);
  });

  it('are named when they have begun, until their end is recorded or they are withdrawn', async () => {
    const { session, issued, end } = await beginCall(world);
    expect(await json('approvals', 'list')).toMatchObject({
      waiting: [],
      unfinished: [{ sessionId: 's', approval: { toolCallId: 'call_1' } }],
    });
    for (const command of [
      ['approvals', 'list'],
      ['sessions', 'resume', 's'],
    ]) {
      const { code, err } = await world.run(command);
      expect([code, err]).toEqual([
        command[0] === 'sessions' ? 1 : 0,
        expect.stringMatching(/slow call_1 of the session s began at .* may have run/),
      ]);
    }
    expect((await world.run(['approvals', 'show', 'call_1'])).out).toContain('no end is recorded');
    // The same call is asked about again, and decided by its id.
    await session.execute([issued]);
    expect((await world.run(['approvals', 'refuse', 'call_1'])).code).toBe(0);
    expect((await world.run(['approvals', 'withdraw', 'call_1'])).out).toMatch(/^withdrew/);
    expect((await world.run(['approvals', 'withdraw', 'call_1'])).out).toMatch(/may have run/);
    expect(await json('approvals', 'list')).toMatchObject({ waiting: [], unfinished: [] });
    expect((await world.run(['sessions', 'resume', 's'])).code).toBe(2);
    expect(await end()).toBe(true);
  });

  it('are told with their candidates where sessions have calls of one id', async () => {
    const call = { toolCallId: 'call_1', name: 'write_file', args: JSON.parse(WRITE) };
    world.write(
      '.ethos/ethos.config.mjs',
      'export default { tools: ["read_file", "write_file"], personality: "coder" };',
    );
    const { createToolRuntime } = await import('@ethosagent/wiring');
    const runtime = await createToolRuntime({
      home: world.home,
      cwd: world.cwd,
      personality: 'coder',
      tools: ['read_file', 'write_file'],
    });
    for (const id of ['one', 'two']) {
      const session = runtime.session(id);
      await session.addSource({ source: 'https://evil.example', tool: 'web_extract' });
      await session.execute([call]);
    }
    await runtime.close();
    const both = await world.run(['approvals', 'approve', 'call_1']);
    expect(both.code).toBe(2);
    for (const id of ['one', 'two']) expect(both.err).toContain(`call_1 --session ${id}`);
    const one = await world.run(['approvals', 'approve', 'call_1', '--session', 'two']);
    expect(one.code).toBe(0);
    const { waiting } = await json('approvals', 'list');
    expect(waiting.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(['one']);
  });

  it.each(inCheck(['0', '2', '1.5', '-', 'nothing'], (name) => ['2', 'nothing'].includes(name)))(
    'refuse %j, which names none',
    async (name) => {
      await waitInSession('s');
      const { code, err } = await world.run(['approvals', 'approve', name]);
      expect([code, err]).toEqual([2, expect.stringContaining('approvals list')]);
    },
  );

  it.runIf(isLongRun())(
    'in a session that can not be read are told of, and hide no others',
    async () => {
      await waitInSession('good');
      await waitInSession('bad');
      const { createToolRuntime } = await import('@ethosagent/wiring');
      const runtime = await createToolRuntime({
        home: world.home,
        cwd: world.cwd,
        personality: 'coder',
        tools: [],
      });
      const info = await runtime.sessions.get('protections of session bad');
      if (info === null) throw new Error('there is no ledger');
      await runtime.sessions.append(info, [
        { role: 'system', text: '', data: { v: 1, kind: 'x' } },
      ]);
      await runtime.close();
      const { code, out } = await world.run(['approvals', 'list', '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({
        waiting: [{ sessionId: 'good' }],
        problems: [expect.stringContaining('bad')],
      });
    },
  );

  it('show nothing to the terminal that moves its cursor', async () => {
    await waitInSession('s', JSON.stringify({ path: 'notes/\u001b[2Jx', content: '\u202e' }));
    for (const args of [['list'], ['show', '1'], ['approve', '1']]) {
      const { out, err } = await world.run(['approvals', ...args], answering('n'));
      expect(`${out}${err}`).not.toMatch(/[^\n\P{Cc}]|\u202E/u);
    }
  });
});

describe('sessions resume', () => {
  it('runs nothing that nobody decided on', async () => {
    const id = await waitInSession('s');
    const { code, err } = await world.run(['sessions', 'resume', 's']);
    expect([code, err]).toEqual([2, expect.stringContaining(id)]);
    expect(existsSync(join(world.cwd, 'notes/b.txt'))).toBe(false);
    expect((await world.run(['sessions', 'resume', 'nothing'])).code).toBe(2);
  });
});
