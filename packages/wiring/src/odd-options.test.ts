import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionBatchOptions } from '@ethosagent/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseReachLock } from './lock/lock-text.js';
import { loadPersonality } from './personality-file.js';
import { createPersonalityStore } from './personality-store.js';
import type { ToolRuntime } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

let world: string;
let runtime: ToolRuntime;

const options = () => ({
  home: join(world, 'home'),
  personality: 'coder',
  cwd: world,
  tools: ['read_file', 'write_file'],
});

beforeEach(async () => {
  world = mkdtempSync(join(tmpdir(), 'odd-options-'));
  const folder = join(world, 'home', 'personalities', 'coder');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'config.yaml'),
    'name: Coder\ntoolset: [read_file, write_file, search_files]\nfs_reach: {read: ["${CWD}"], write: ["${CWD}"]}\n',
  );
  writeFileSync(join(world, 'page.txt'), 'a line of the page\n'.repeat(3_000));
  runtime = await createToolRuntime(options());
});

afterEach(async () => {
  await runtime.close();
  rmSync(world, { recursive: true, force: true });
});

const write = { toolCallId: '1', name: 'write_file', args: { path: 'a.txt', content: 'x' } };

describe('options of a batch', () => {
  const odd: [string, SessionBatchOptions, string][] = [
    ['a text for dryRun', Object({ dryRun: 'true' }), 'dryRun must be true or false'],
    ['a number for dryRun', Object({ dryRun: 1 }), 'dryRun must be true or false'],
    [
      'a promise for dryRun',
      Object({ dryRun: Promise.resolve(true) }),
      'dryRun must be true or false; await the promise',
    ],
    ['a promise of options', Object(Promise.resolve({ dryRun: true })), 'are a promise; await it'],
    ['null for options', JSON.parse('null'), 'the options are not an object'],
    [
      'a text for the budget',
      Object({ resultBudgetChars: '100' }),
      'resultBudgetChars must be a number of characters',
    ],
    ['NaN for the budget', { resultBudgetChars: Number.NaN }, 'resultBudgetChars must be a number'],
    [
      'a controller for a signal',
      Object({ abortSignal: new AbortController() }),
      'abortSignal must be an AbortSignal, as `signal` of an AbortController',
    ],
    ['null for tools', Object({ tools: null }), 'tools must be a list of names of tools'],
    ['a text for tools', Object({ tools: 'write_file' }), 'tools must be a list of names of tools'],
    [
      'attachments without media type',
      Object({ attachments: [{ id: 'a' }] }),
      'attachments must be a list of attachments, each with id, name, mediaType and sizeBytes',
    ],
  ];

  it.each(odd)('refuse %s, and nothing runs', async (_name, given, told) => {
    for (const results of [
      await runtime.execute([write], given),
      await runtime.execute(
        [write],
        given === null || given instanceof Promise ? given : { ...given, protections: 'none' },
      ),
      await runtime.session('s').execute([write], given),
    ]) {
      expect(results).toMatchObject([
        {
          toolCallId: '1',
          result: {
            ok: false,
            code: 'not_available',
            cause: 'CONFIG_INVALID',
            error: expect.stringContaining(told),
          },
        },
      ]);
    }
    expect(existsSync(join(world, 'a.txt'))).toBe(false);
  });

  it.each(['userScopeId', 'teamId', 'agentId', 'memoryScopeId', 'sessionKey', 'personality'])(
    'refuse a %s that is no text',
    async (name) => {
      for (const value of [1, null, Promise.resolve('ada')]) {
        const [answer] = await runtime.execute([write], { [name]: value });
        expect(answer?.result).toMatchObject({
          cause: 'CONFIG_INVALID',
          error: expect.stringContaining(`${name} must be a text`),
        });
      }
      expect(existsSync(join(world, 'a.txt'))).toBe(false);
    },
  );

  it('need a list of calls', async () => {
    for (const calls of [write, undefined, Promise.resolve([write]), new Set([write])]) {
      for (const results of [
        await runtime.execute(Object(calls)),
        await runtime.session('s').execute(Object(calls)),
      ]) {
        expect(results).toMatchObject([
          {
            result: {
              code: 'input_invalid',
              error: expect.stringContaining('calls is not a list'),
            },
          },
        ]);
      }
    }
    expect(existsSync(join(world, 'a.txt'))).toBe(false);
  });
});

describe('options of a session', () => {
  it.each<[string, unknown, string]>([
    [
      'a promise',
      Promise.resolve({ limits: { maxCalls: 1 } }),
      'session: the options are a promise',
    ],
    ['a promise of limits', { limits: Promise.resolve({}) }, 'limits: the options are a promise'],
    ['no identity', { identity: null }, 'identity: the options are not an object'],
    ['a misspelt user', { identity: { userscopeId: 'a' } }, 'did you mean "userScopeId"?'],
    ['a user that is no text', { identity: { userScopeId: 1 } }, 'userScopeId must be a text'],
    ['no personality', { personality: null }, 'personality must be a text'],
    ['images that are null', { images: null }, 'images must be true, false or limits'],
  ])('are refused with %s', (_name, given, told) => {
    const open = () => runtime.session('s', Object(given));
    expect(open).toThrow('CONFIG_INVALID');
    expect(open).toThrow(told);
  });
});

describe('a question', () => {
  it.each<[unknown]>([
    [undefined],
    [null],
    ['1'],
    [{}],
    [{ toolCallId: '1' }],
    [Promise.resolve({})],
  ])('is not %j', async (asked) => {
    const session = runtime.session('s');
    const told = 'APPROVAL_INVALID: it has no toolCallId and question; give an entry of pending()';
    const { decide, withdraw } = session;
    const decided = Reflect.apply(decide, session, [asked, { approved: true }]);
    await expect(decided).rejects.toThrow(told);
    await expect(Reflect.apply(withdraw, session, [asked])).rejects.toThrow(told);
  });
});

describe('the id of a personality', () => {
  it.each<[unknown]>([[null], [1], [{}], [Promise.resolve('coder')]])('is not %j', async (id) => {
    const told = 'CONFIG_INVALID: the id of a personality must be a text';
    for (const method of ['personality', 'definitions', 'switchPersonality', 'reach'] as const) {
      await expect(Reflect.apply(runtime[method], runtime, [id])).rejects.toThrow(told);
    }
    expect(runtime.personalityId).toBe('coder');
  });
});

describe('a tool that the toolset names and the runtime lacks', () => {
  it('is told apart from one that nobody knows', async () => {
    const answers = await runtime.execute([
      { toolCallId: '1', name: 'search_files', args: {} },
      { toolCallId: '2', name: 'unheard_of', args: {} },
    ]);
    expect(answers.map(({ result }) => result)).toMatchObject([
      {
        cause: 'TOOL_NOT_FOUND',
        error: expect.stringMatching(
          /^there is no tool "search_files": the toolset of "coder" names it, but the program has not registered it; .*`tools` of the runtime lacks it$/,
        ),
      },
      { cause: 'TOOL_NOT_FOUND', error: expect.stringMatching(/^there is no tool "unheard_of"; /) },
    ]);
  });
});

describe('options of a runtime', () => {
  it.each<[string, unknown, string]>([
    ['auditArguments', 'true', 'true or false'],
    ['auditResults', 1, 'true or false'],
    ['reducers', [null], 'a list of reducers, each with toolName and reduce'],
    ['reducers', [{ toolName: 'read_file' }], 'a list of reducers'],
    ['denyPaths', [null], 'a list of absolute paths'],
    ['passEnv', [1], 'a list of names of variables'],
    ['env', null, 'an object with the variables'],
    ['sandbox', false, 'a sandbox; or leave it out for bubblewrap'],
    ['fetch', {}, 'a function'],
    ['lookup', 'x', 'a function'],
    ['limits', null, 'an object'],
  ])('refuse a %s of another kind: %j', async (name, value, wanted) => {
    await expect(createToolRuntime({ ...options(), [name]: value })).rejects.toThrow(
      `CONFIG_INVALID: ${name} must be ${wanted}`,
    );
  });
});

describe('a session that is given too little', () => {
  it.each<[unknown]>([[undefined], [null], ['x'], [{}], [{ source: 'a' }], [Promise.resolve({})]])(
    'adds no source that is %j',
    async (source) => {
      const session = runtime.session('s');
      await expect(Reflect.apply(session.addSource, session, [source])).rejects.toThrow(
        'INPUT_INVALID: addSource takes { source, tool }',
      );
      expect(await session.sources()).toEqual([]);
    },
  );

  it.each<[unknown]>([[undefined], [null], [5]])('checks no call that is %j', async (call) => {
    const session = runtime.session('s');
    expect(await Reflect.apply(session.check, session, [call])).toMatchObject({
      kind: 'refused',
      result: { text: expect.stringContaining('not an object with toolCallId, name and args') },
    });
  });

  it.each<[unknown[]]>([[[]], [[null]], [[{}, null]]])('reads nothing for %j', async (given) => {
    const session = runtime.session('s');
    expect(await Reflect.apply(session.readQuarantined, session, given)).toMatchObject({
      ok: false,
      code: 'input_invalid',
    });
  });
});

describe('parseReachLock', () => {
  it.each<[unknown[], string]>([
    [[], 'the options are missing'],
    [['version: 1\n'], 'the options are missing'],
    [[5, { home: '/h', cwd: '/c', file: 'reach.lock' }], 'give the text of the lock, not number'],
    [[undefined, { home: '/h', cwd: '/c', file: 'reach.lock' }], 'give the text of the lock'],
  ])('refuses %j', (given, told) => {
    expect(() => Reflect.apply(parseReachLock, undefined, given)).toThrow(
      `CONFIG_INVALID: parseReachLock: ${told}`,
    );
  });
});

describe('the options of personalities', () => {
  const given: [unknown, string][] = [
    [undefined, 'the options are missing'],
    ['/home/x/.ethos', 'the options are of type string'],
    [{ hom: '/home/x/.ethos' }, 'there is no option "hom"; did you mean "home"?'],
  ];
  it.each(given)('of loadPersonality: refuses %j', async (options, told) => {
    await expect(Reflect.apply(loadPersonality, undefined, [options])).rejects.toThrow(
      `CONFIG_INVALID: loadPersonality: ${told}`,
    );
  });
  it.each(given)('of createPersonalityStore: refuses %j', (options, told) => {
    expect(() => Reflect.apply(createPersonalityStore, undefined, [options])).toThrow(
      `CONFIG_INVALID: createPersonalityStore: ${told}`,
    );
  });
});
