import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCliHome } from '../fixtures/cli-home.js';

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml':
      'name: Coder\ntoolset: [read_file, write_file]\nfs_reach:\n  read: ["${CWD}/notes"]\n  write: ["${CWD}/notes"]\n',
    'notes/a.txt': 'hello',
  });
});
afterEach(() => world.remove());

const READ = 'read_file {"path":"notes/a.txt"}';
const WRITE = 'write_file {"path":"notes/b.txt","content":"x"}';
const b = () => join(world.cwd, 'notes', 'b.txt');
/** Answers questions in order, and keeps them. */
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

/** A provider in the project. Its model answers, and fails while there is a file `down`. */
const installModel = () => {
  const folder = join(world.cwd, 'node_modules', '@ai-sdk', 'my-lab');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"@ai-sdk/my-lab","main":"index.mjs"}');
  writeFileSync(
    join(folder, 'index.mjs'),
    `import { appendFileSync, existsSync } from 'node:fs';
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    export const myLab = (modelId) => ({
      specificationVersion: 'v3', provider: 'my-lab', modelId, supportedUrls: {},
      async doStream() {
        appendFileSync(new URL('asked', import.meta.url), 'x');
        if (existsSync(new URL('down', import.meta.url))) {
          throw Object.assign(new Error('no key'), { name: 'AI_LoadAPIKeyError' });
        }
        return { stream: new ReadableStream({ start(controller) {
          controller.enqueue({ type: 'text-start', id: '1' });
          controller.enqueue({ type: 'text-delta', id: '1', delta: 'I am ' + modelId + '\\u001b[2J' });
          controller.enqueue({ type: 'text-end', id: '1' });
          controller.enqueue({ type: 'finish', finishReason: { unified: 'stop' }, usage });
          controller.close();
        } }) };
      },
    });`,
  );
  return {
    down: join(folder, 'down'),
    timesAsked: () => readFileSync(join(folder, 'asked'), 'utf8').length,
  };
};

describe('run', () => {
  it('shows the tool that ran, and its result', async () => {
    const { code, out } = await world.run(['run', READ]);
    expect(code).toBe(0);
    expect(out).toMatch(/→ read_file \{"path":"notes\/a.txt"\}\n✓ \d+ ms .*hello/);
  });

  it('gives each event as a line of JSON', async () => {
    const { out } = await world.run(['run', READ, '--json']);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['tool_end', 'text']));
    expect(events.at(-1)).toMatchObject({ type: 'done', end: 'answered', calls: 1 });
  });

  it('says how to get a model where none is named and the prompt names no tool', async () => {
    const { code, out, err } = await world.run(['run', 'What is in my notes?']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('--model provider/model');
    expect((await world.run(['run', 'read_fil {}', '--json'])).code).toBe(2);
  });

  it('pauses where a call needs approval and there is no terminal; chat goes on', async () => {
    await world.run(['run', READ, '--session', 's']);
    const paused = await world.run(['run', WRITE, '--session', 's']);
    expect([paused.code, existsSync(b())]).toEqual([1, false]);
    expect(paused.err).toContain('--session s');
    const chat = await world.run(['chat', '--session', 's'], answering('y', ''));
    expect([chat.code, readFileSync(b(), 'utf8')]).toEqual([0, 'x']);
  });

  it.each([
    ['gpt', 'is not of the form provider/model'],
    ['nothing-there/x', 'npm install @ai-sdk/nothing-there'],
    ['../../evil/x', 'is not of the form provider/model'],
  ])('refuses the model %s', async (model, hint) => {
    const { code, err } = await world.run(['run', 'Hi', '--model', model]);
    expect(code).toBe(2);
    expect(err).toContain(hint);
  });

  it('takes a model from a provider that the project has installed', async () => {
    installModel();
    const env = { ETHOS_MODEL: 'my-lab/one/two' };
    expect(await world.run(['run', 'Who are you?'], { env })).toMatchObject({
      code: 0,
      out: 'I am one/two\n',
    });
  });

  it('is aborted by the signal, and can be gone on with', async () => {
    const controller = new AbortController();
    controller.abort();
    const { code } = await world.run(['run', READ, '--session', 's'], {
      signal: controller.signal,
    });
    expect(code).toBe(1);
    const again = await world.run(['chat', '--session', 's'], answering(''));
    expect(again.code).toBe(0);
  });
});

describe('a turn whose model failed', () => {
  const MODEL = ['--model', 'my-lab/one'];

  it('names the command that asks again, which leaves it to a real model', async () => {
    const { down } = installModel();
    writeFileSync(down, '');
    const failed = await world.run(['run', 'Who are you?', '--session', 's', ...MODEL]);
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('"ethosagent sessions resume s" asks the model again');
    const other = await world.run(['run', 'And now?', '--session', 's', ...MODEL]);
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining('"ethosagent sessions resume s" goes on with it'),
    ]);
    rmSync(down);
    const without = await world.run(['sessions', 'resume', 's']);
    expect([without.code, without.out]).toEqual([
      1,
      expect.stringContaining('--model provider/model'),
    ]);
    expect((await world.run(['chat', '--session', 's'], answering(''))).code).toBe(1);
    expect(await world.run(['sessions', 'resume', 's', ...MODEL])).toMatchObject({
      code: 0,
      out: 'I am one\n',
    });
  });

  it('is abandoned, and the session goes on with another turn', async () => {
    const { down } = installModel();
    const clerk = 'name: Clerk\ntoolset: [read_file]\n';
    world.write('.ethos/personalities/clerk/config.yaml', clerk);
    const inSession = ['--session', 's', '--personality', 'coder', ...MODEL];
    writeFileSync(down, '');
    await world.run(['run', 'Who are you?', ...inSession]);
    rmSync(down);
    expect((await world.run(['run', 'And now?', ...inSession])).err).toContain(
      '"ethosagent sessions abandon s" ends it',
    );
    const abandon = (id: string, ...more: string[]) =>
      world.run(['sessions', 'abandon', id, ...more]);
    expect(await abandon('s')).toMatchObject({
      code: 0,
      out: 'abandoned the turn of s; a new one can begin\n',
    });
    expect(await abandon('s', '--json')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/"abandoned": ?false/),
    });
    expect(await abandon('other')).toMatchObject({ code: 1, out: 'there is no session other\n' });
    writeFileSync(down, '');
    expect((await world.run(['run', 'And now?', ...inSession])).code).toBe(1);
    rmSync(down);
    // Under the personality of the session, since none is named.
    expect((await world.run(['sessions', 'resume', 's', ...MODEL])).code).toBe(0);
  });

  it('that waits for a decision is abandoned, whoever owns the session', async () => {
    const { createAgent } = await import('@ethosagent/wiring/agent');
    const { createScriptedModel } = await import('./scripted-model.js');
    const open = () =>
      createAgent({
        home: world.home,
        cwd: world.cwd,
        personality: 'coder',
        identity: { userScopeId: 'ann' },
        tools: [
          {
            name: 'send',
            description: 'Sends.',
            schema: { type: 'object', properties: {} },
            capabilities: {},
            requiresApproval: true,
            toolset: 'read_file',
            execute: async () => ({ ok: true, value: 'sent' }),
          },
        ],
        model: createScriptedModel(),
        approve: () => 'later',
      });
    const agent = await open();
    expect(await agent.loop.ask({ sessionId: 's', prompt: 'send {}' })).toMatchObject({
      end: 'paused',
    });
    await agent.close();
    expect((await world.run(['sessions', 'abandon', 's'])).code).toBe(0);
    expect((await world.run(['approvals', 'list', '--json'])).out).not.toContain('send');
    const later = await open();
    expect(await later.loop.state('s')).toBe('idle');
    await later.close();
  });

  it('ends a chat, which a new chat goes on with', async () => {
    const { down, timesAsked } = installModel();
    writeFileSync(down, '');
    const failed = await world.run(['chat', '--session', 's', ...MODEL], answering('Who are you?'));
    expect([failed.code, timesAsked()]).toEqual([1, 1]);
    rmSync(down);
    const { code, out } = await world.run(['chat', '--session', 's', ...MODEL], answering(''));
    expect([code, out, timesAsked()]).toEqual([0, 'I am one\n', 2]);
  });
});

describe('chat', () => {
  it('says without a model what it runs, and stores nothing of what it does not', async () => {
    const { code, err } = await world.run(['chat', '--session', 's'], answering('Hello', READ, ''));
    expect(code).toBe(0);
    expect(err).toContain('--model provider/model');
    expect((await world.run(['sessions', 'show', 's'])).out).not.toContain('Hello');
  });

  it('asks about an effect after something foreign was read, and runs what was edited', async () => {
    const edited = '{"path":"notes/c.txt","content":"edited"}';
    const user = answering(READ, WRITE, 'n', WRITE, 'e', edited, '');
    const { code, err } = await world.run(['chat'], user);
    expect(code).toBe(0);
    expect(err).toContain('notes/a.txt');
    expect(existsSync(b())).toBe(false);
    expect(readFileSync(join(world.cwd, 'notes', 'c.txt'), 'utf8')).toBe('edited');
  });

  it.runIf(isLongRun())('asks once where the answer is always', async () => {
    const user = answering(READ, WRITE, 'a', WRITE.replace('b.txt', 'd.txt'), '');
    const { code } = await world.run(['chat'], user);
    expect([code, existsSync(b()), existsSync(join(world.cwd, 'notes', 'd.txt'))]).toEqual([
      0,
      true,
      true,
    ]);
    expect(user.asked.filter((question) => question.startsWith('Run it?'))).toHaveLength(1);
  });

  it('needs a terminal', async () => {
    expect((await world.run(['chat'])).code).toBe(2);
  });
});
