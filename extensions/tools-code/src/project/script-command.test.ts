import { describe, expect, it } from 'vitest';
import { findProgram, scriptCommand, wholeScript } from './script-command.js';
import { commandsIn } from './script-words.js';

const find = (scripts: Record<string, string>, name = 'test', program = 'mocha') =>
  scriptCommand(new Map(Object.entries(scripts)), name, (words) => findProgram([program], words));

describe('commandsIn', () => {
  it.each([
    ['a b', [['a', 'b']]],
    [`mocha 'test/**/*.js' "a b"`, [['mocha', 'test/**/*.js', 'a b']]],
    ['a && b; c || d | e & f', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
    ["a'b'c 'x && y'", [['abc', 'x && y']]],
    ['a\\ b', [['a b']]],
    ['a#b', [['a#b']]],
  ])('%j', (script, words) => {
    const found = commandsIn(script)?.map((command) => command.words.map(({ text }) => text));
    expect(found).toEqual(words);
  });

  it.each(['a $(b)', 'a `b`', '(a)', 'a > b', 'a < b', 'a "$(b)"', 'a "b', "a 'b", 'a #b'])(
    '%j takes a shell',
    (script) => expect(commandsIn(script)).toBeUndefined(),
  );
});

describe('scriptCommand', () => {
  it.each([
    ['mocha', {}, 'mocha'],
    ['NODE_ENV=test mocha a', {}, 'NODE_ENV=test mocha a'],
    ['cross-env A=1 B=2 mocha', {}, 'cross-env A=1 B=2 mocha'],
    ['c8 --reporter text mocha', {}, 'c8 --reporter text mocha'],
    ['npx --yes mocha', {}, 'npx --yes mocha'],
    ['node --inspect ./node_modules/mocha/bin/mocha.js', {}, undefined],
    ['npm run unit', { unit: 'mocha x' }, 'mocha x'],
    ['pnpm unit', { unit: 'mocha x' }, 'mocha x'],
    ['yarn run -s unit', { unit: 'mocha x' }, 'mocha x'],
    ['nyc npm run unit', { unit: 'mocha x' }, 'mocha x'],
    ['run-s lint test:*', { lint: 'xo', 'test:unit': 'mocha x' }, 'mocha x'],
    ['npm t', {}, undefined],
    ['npm run unit -- --bail', { unit: 'mocha x' }, undefined],
    ['npm run a', { a: 'npm run b', b: 'npm run a' }, undefined],
    ['pnpm -r test', {}, undefined],
    ['eslint --plugin mocha .', {}, undefined],
    ['echo mocha', {}, undefined],
    ['true || mocha', {}, undefined],
    ['echo x | mocha', {}, undefined],
    ['mocha > out', {}, undefined],
  ])('in %j with %j is %j', (test, others, text) => {
    const known = test.includes('node_modules') ? 'mocha.js' : text;
    const found = find({ test, ...others });
    if (test.includes('node_modules')) expect(found?.text).toContain(known);
    else expect(found?.text).toBe(text);
  });

  it('keeps what builds, and tells what it leaves out', () => {
    const scripts = {
      pretest: 'npm run build',
      build: 'tsc -p . && cp a b',
      test: 'npm run lint && mocha | cat && tsd',
      lint: 'eslint .',
    };
    expect(find(scripts)).toMatchObject({
      script: 'test',
      before: ['tsc -p .', 'cp a b'],
      text: 'mocha',
      left: ['eslint .', 'tsd'],
    });
  });
});

it('wholeScript is all that a package manager runs', () => {
  const scripts = new Map([
    ['pretest', 'a; b'],
    ['test', 'c || d'],
  ]);
  expect(wholeScript(scripts, 'test')).toBe('{ a; b\n} && { c || d\n}');
  expect(wholeScript(new Map([['test', 'c']]), 'test')).toBe('c');
});

it.each([
  ['scripts that run each other', (next: string) => Array(60).fill(`npm run ${next}`).join(' && ')],
  ['scripts of linters', () => Array(600).fill('xo').join(';')],
  ['a list of all scripts', () => `run-s ${'* '.repeat(1_000)}`],
  ['a pattern of stars', () => `run-s ${'*'.repeat(1_000_000)}x*`],
])('scriptCommand comes to an end with %s', (_what, many) => {
  const names = ['test', 'a', 'b', 'c', 'd'];
  const scripts = names.map((name, at) => [name, many(names[at + 1] ?? 'e')] as const);
  expect(find({ ...Object.fromEntries(scripts), e: 'true' })).toBeUndefined();
});
