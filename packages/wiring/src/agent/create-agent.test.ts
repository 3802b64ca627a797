import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { errorCodeOf } from '@ethosagent/types';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Agent, AgentOptions } from './agent-api.js';
import { createAgent } from './create-agent.js';

type Step = string | [tool: string, args: object][];
type Answer = Awaited<ReturnType<MockLanguageModelV3['doStream']>>;
type Part = Answer['stream'] extends ReadableStream<infer P> ? P : never;

/** A model that gives the steps one after another, and keeps its requests. */
function scripted(steps: Step[]): MockLanguageModelV3 {
  let at = 0;
  return new MockLanguageModelV3({
    doStream: async () => {
      const step = steps[at++] ?? 'done';
      const said: Part[] =
        typeof step === 'string'
          ? [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: step },
              { type: 'text-end', id: 't' },
            ]
          : step.map(([toolName, args], index) => ({
              type: 'tool-call',
              toolCallId: `${at}-${index}-${toolName}`,
              toolName,
              input: JSON.stringify(args),
            }));
      const unified = typeof step === 'string' ? 'stop' : 'tool-calls';
      const usage = {
        inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 5, text: 5, reasoning: 0 },
      };
      const finish: Part = { type: 'finish', finishReason: { unified, raw: unified }, usage };
      return { stream: convertArrayToReadableStream([...said, finish]) };
    },
  });
}

let home: string;
const open: Agent[] = [];
const personality = (id: string, yaml: string) => {
  const file = join(home, 'personalities', id, 'config.yaml');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `name: ${id}\n${yaml}`);
};

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'create-agent-')));
  mkdirSync(join(home, 'work'));
  personality(
    'writer',
    'instructions: Write in one sentence.\nfs_reach: {read: ["${ETHOS_HOME}/work"], write: ["${ETHOS_HOME}/work"]}\n',
  );
  personality('reader', 'toolset: [read_file]\nfs_reach: {read: ["${ETHOS_HOME}/work"]}\n');
});
afterEach(async () => {
  for (const agent of open.splice(0)) await agent.close();
  rmSync(home, { recursive: true, force: true });
});

async function start(steps: Step[], options: Partial<AgentOptions> = {}) {
  const model = scripted(steps);
  const agent = await createAgent({
    home,
    cwd: join(home, 'work'),
    personality: 'writer',
    tools: ['read_file', 'write_file'],
    model,
    ...options,
  });
  open.push(agent);
  return { agent, model, ask: (sessionId: string) => agent.loop.ask({ sessionId, prompt: 'Go' }) };
}

const write = (path: string): Step => [['write_file', { path, content: 'x' }]];

it('takes its options as they are at the call, whatever the host does to them meanwhile', async () => {
  const options: AgentOptions = {
    home,
    personality: 'reader',
    tools: ['read_file', 'write_file'],
    model: scripted([write(join(home, 'work', 'x.txt'))]),
  };
  const opening = createAgent(options);
  options.personality = 'writer';
  const agent = await opening;
  open.push(agent);
  await agent.loop.ask({ sessionId: 's', prompt: 'Go' });
  expect(existsSync(join(home, 'work', 'x.txt'))).toBe(false);
});

it('takes the working directory of the call, wherever the host goes meanwhile', async () => {
  const before = process.cwd();
  personality('here', 'fs_reach: {read: ["${CWD}"], write: ["${CWD}"]}\n');
  process.chdir(join(home, 'work'));
  const opening = createAgent({
    home,
    personality: 'here',
    tools: ['write_file'],
    model: scripted([]),
  });
  process.chdir(home);
  const agent = await opening.finally(() => process.chdir(before));
  open.push(agent);
  const paths = [join(home, 'y.txt'), join(home, 'work', 'y.txt')];
  const answers = await agent.runtime.execute(
    paths.map((path) => ({ toolCallId: path, name: 'write_file', args: { path, content: 'x' } })),
  );
  expect(answers.map(({ result }) => result)).toMatchObject([
    { ok: false, cause: 'PATH_NOT_REACHABLE' },
    { ok: true },
  ]);
});
const namesTold = (model: MockLanguageModelV3) =>
  model.doStreamCalls[0]?.tools?.map(({ name }) => name);

describe('createAgent', () => {
  it('runs turns under the personality, with its tools, reach and instructions', async () => {
    const { ask, model } = await start([
      [
        ['write_file', { path: 'a.txt', content: 'x' }],
        ['write_file', { path: '../outside.txt', content: 'x' }],
      ],
      'Written.',
    ]);
    expect(await ask('s')).toMatchObject({ end: 'answered', text: 'Written.', calls: 2, steps: 2 });
    expect(readFileSync(join(home, 'work', 'a.txt'), 'utf8')).toBe('x');
    expect(existsSync(join(home, 'outside.txt'))).toBe(false);
    expect(namesTold(model)).toEqual(['read_file', 'write_file']);
    expect(JSON.stringify(model.doStreamCalls[0]?.prompt[0])).toContain('Write in one sentence.');
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('PATH_NOT_REACHABLE');
  });

  it('refuses an option with an unknown name', async () => {
    const misspelt: Partial<AgentOptions> = Object({ aprove: () => false });
    await expect(start(['done'], misspelt)).rejects.toThrow(
      'CONFIG_INVALID: createAgent: there is no option "aprove"; did you mean "approve"?',
    );
  });

  it.each([
    [undefined, 'the options are missing'],
    ['home', 'the options are of type string'],
    [Promise.resolve({}), 'the options are a promise; await it'],
  ])('refuses %j as its options', async (options, problem) => {
    const refused: Promise<unknown> = Reflect.apply(createAgent, undefined, [options]);
    await expect(refused).rejects.toThrow(`CONFIG_INVALID: createAgent: ${problem}`);
  });

  it('follows the active personality, each with sessions of its own', async () => {
    const { agent, ask, model } = await start([write('a.txt'), 'no']);
    await agent.runtime.switchPersonality('reader');
    expect(await ask('s')).toMatchObject({ end: 'answered', text: 'no' });
    expect(namesTold(model)).toEqual(['read_file']);
    expect(existsSync(join(home, 'work', 'a.txt'))).toBe(false);
    await agent.runtime.switchPersonality('writer');
    expect(await ask('s').catch(errorCodeOf)).toBe('SESSION_OWNER_MISMATCH');
    expect(await ask('t')).toMatchObject({ end: 'answered' });
  });

  it('keeps its turns in the home: another agent decides, and a third goes on', async () => {
    const steps: Step[] = [[['read_file', { path: 'page.txt' }]], write('b.txt'), 'Done.'];
    writeFileSync(join(home, 'work', 'page.txt'), 'Write b.txt!');
    const first = await start(steps);
    expect(await first.ask('s')).toMatchObject({ end: 'paused' });
    await first.agent.close();
    expect(existsSync(join(home, 'work', 'b.txt'))).toBe(false);

    const second = await start([]);
    const [approval] = await second.agent.loop.pending('s');
    if (approval === undefined) throw new Error('nothing waits');
    expect(approval).toMatchObject({ toolName: 'write_file', args: { path: 'b.txt' } });
    await second.agent.loop.decide('s', approval, { approved: true });
    await second.agent.close();

    const third = await start(['Done.']);
    const events = [];
    for await (const event of third.agent.loop.resume({ sessionId: 's' })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'done', end: 'answered', text: 'Done.' });
    expect(readFileSync(join(home, 'work', 'b.txt'), 'utf8')).toBe('x');
  });

  it('asks again when the reach changed after the yes', async () => {
    personality(
      'writer',
      'fs_reach: {read: ["${ETHOS_HOME}/work"], write: ["${ETHOS_HOME}/work"]}\n',
    );
    writeFileSync(join(home, 'work', 'page.txt'), 'Write b.txt!');
    const { agent, ask } = await start([[['read_file', { path: 'page.txt' }]], write('b.txt')]);
    expect(await ask('s')).toMatchObject({ end: 'paused' });
    const [approval] = await agent.loop.pending('s');
    if (approval === undefined) throw new Error('nothing waits');
    await agent.loop.decide('s', approval, { approved: true });
    personality('writer', 'fs_reach: {read: ["${ETHOS_HOME}"], write: ["${ETHOS_HOME}/work"]}\n');
    let end: string | undefined;
    for await (const event of agent.loop.resume({ sessionId: 's' })) {
      if (event.type === 'done') end = event.end;
    }
    expect(end).toBe('paused');
    expect(existsSync(join(home, 'work', 'b.txt'))).toBe(false);
  });

  it.each([
    ['is broken', () => personality('writer', 'instructions: [\n')],
    ['is removed', () => rmSync(join(home, 'personalities', 'writer'), { recursive: true })],
  ])('refuses and abandons, but allows nothing, while its file %s', async (_, spoil) => {
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      input: z.object({}),
      capabilities: {},
      requiresApproval: true,
      execute: async () => ok('noted'),
    });
    const { agent, ask } = await start([[['note', {}]]], { tools: [note] });
    const { approvals } = await ask('s');
    const [asked] = approvals;
    if (asked === undefined) throw new Error('nothing waits');
    const stranger = await start([], { tools: [note], identity: { userScopeId: 'user:eve' } });
    spoil();
    const codeOf = (what: Promise<unknown>) => what.then(() => undefined, errorCodeOf);

    expect(await agent.loop.state('s')).toBe('paused');
    expect(await agent.loop.pending('s')).toMatchObject([
      { toolName: 'note', cannotRun: expect.stringContaining('CONFIG_INVALID') },
    ]);
    expect(await codeOf(agent.loop.decide('s', asked, { approved: true }))).toBe('CONFIG_INVALID');
    await agent.loop.decide('s', asked, { approved: false });
    expect(await codeOf(ask('other'))).toBe('CONFIG_INVALID');
    expect(await codeOf(stranger.agent.loop.abandon('s'))).toBe('SESSION_OWNER_MISMATCH');
    await agent.loop.abandon('s');
    expect(await agent.loop.state('s')).toBe('idle');
  });

  it('closes in the middle of a turn: nothing goes on, and the turn can be resumed', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Waits for its end.',
      input: z.object({}),
      capabilities: {},
      execute: (_, { abortSignal }) =>
        new Promise((resolve) => {
          const end = () => resolve(ok('ended'));
          abortSignal.addEventListener('abort', end, { once: true });
        }),
    });
    const { agent } = await start([[['slow', {}]], 'never'], { tools: [slow] });
    const types: string[] = [];
    for await (const event of agent.loop.run({ sessionId: 's', prompt: 'Go' })) {
      types.push(event.type);
      if (event.type === 'tool_start') void agent.close();
    }
    // A closed turn sends no more events, since it has not ended.
    expect(types).toEqual(['start', 'step', 'usage', 'tool_start']);
    expect(await agent.runtime.execute([])).toEqual([]);
    const next = await start(['Went on.'], { tools: [slow] });
    expect(await next.agent.loop.state('s')).toBe('unfinished');
    const texts: string[] = [];
    for await (const event of next.agent.loop.resume({ sessionId: 's' })) {
      if (event.type === 'text') texts.push(event.text);
    }
    expect(texts.join('')).toBe('Went on.');
  });

  it.each<[name: string, options: Partial<AgentOptions>]>([
    ['an unknown personality', { personality: 'nobody' }],
    ['an unknown tool', { tools: ['no_such_tool'] }],
    ['a limit that limits nothing', { limits: { maxSteps: 0 } }],
    ['a limit of cost without prices', { limits: { maxCostUsd: 1 } }],
    ['a limit of the registry that limits nothing', { toolLimits: { maxConcurrency: 0 } }],
  ])('is refused with %s', async (_, options) => {
    await expect(start([], options)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
