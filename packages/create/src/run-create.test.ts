import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createTestFolder, type TestFolder } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TEMPLATES } from './project-files.js';
import { type CreateIo, runCreate } from './run-create.js';
import { terminalQuestions } from './terminal-questions.js';
import { writeFiles, writeProject } from './write-files.js';
import { writeHome } from './write-home.js';

let folder: TestFolder;
beforeEach(() => {
  folder = createTestFolder('create');
});
afterEach(() => folder.remove());

async function create(
  args: readonly string[],
  { questions, userAgent }: Pick<CreateIo, 'questions' | 'userAgent'> = {},
) {
  const cwd = folder.dir;
  const run = { cwd, code: -1, out: '', err: '' };
  run.code = await runCreate(args, {
    cwd,
    out: (text) => {
      run.out += text;
    },
    err: (text) => {
      run.err += text;
    },
    questions,
    userAgent,
  });
  return run;
}

/** The whole content of a folder: its paths, and the texts of its files. */
function treeOf(path: string): Record<string, string> {
  const entries = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    entries.map((name) => {
      const file = join(path, name);
      return [name, lstatSync(file).isFile() ? readFileSync(file, 'utf8') : ''];
    }),
  );
}

describe('npm create @ethosagent', () => {
  it.each(Object.keys(TEMPLATES))('writes the files of %s', async (template) => {
    const { code, cwd, out } = await create([`my-${template}`, '--template', template]);
    expect(code).toBe(0);
    const project = join(cwd, `my-${template}`);
    const files = treeOf(project);
    expect(Object.keys(files)).toMatchSnapshot();
    expect(Object.values(files).join('\n')).not.toMatch(/\{\{\w+\}\}/);
    const { name, dependencies } = JSON.parse(files['package.json'] ?? '');
    expect(name).toBe(`my-${template}`);
    expect(dependencies['@ethosagent/plugin-sdk']).toMatch(/^\^\d/);
    expect(out).toContain(`Next:\n  cd my-${template}\n  npm install\n`);
    // Other users must not be able to write the files that decide what runs.
    expect(statSync(join(project, '.ethos')).mode & 0o077).toBe(0);
  });

  it('asks nothing with --yes or without a terminal, and makes an agent', async () => {
    const { code, cwd } = await create(['--yes']);
    expect([code, existsSync(join(cwd, 'my-agent', 'src', 'main.ts'))]).toEqual([0, true]);
  });

  it.each([
    ['pnpm/12.21.0 npm/? node/v20.19.0 linux x64', 'pnpm'],
    ['yarn/4.9.1 npm/? node/v20.19.0 linux x64', 'yarn'],
    ['bun/1.2.0 npm/? node/v20.19.0 linux x64', 'bun'],
    ['npm/10.8.2 node/v20.19.0 linux x64', 'npm'],
    ['rm -rf /; pnpm/1', 'npm'],
    [undefined, 'npm'],
  ])('of the package manager %j says what comes next for %s', async (userAgent, manager) => {
    const { out } = await create(['mine'], { userAgent });
    const next = [
      'cd mine',
      ...['install', 'start', 'run test'].map((each) => `${manager} ${each}`),
    ];
    expect(out).toMatch(new RegExp(`\\nNext:\\n  ${next.join('\\n  ')}\\n$`));
  });

  it('gives a scoped package a folder without the scope', async () => {
    const { code, cwd } = await create(['@acme/greet', '--template', 'plugin']);
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, 'greet', 'src', 'index.ts'), 'utf8')).toContain(
      "id: '@acme/greet'",
    );
  });

  it('asks at a terminal: the arrow keys choose, and what can not be is asked for again', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let shown = '';
    const keys = ['\x1b[B\r', '../evil\r', `${'\x7f'.repeat(7)}my-own\r`];
    const marks = ['plugin:', 'Name', '▲'];
    output.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      if (marks[0] === undefined || !shown.includes(marks[0])) return;
      marks.shift();
      shown = '';
      setImmediate(() => input.write(keys.shift() ?? ''));
    });
    const { code, cwd } = await create([], {
      questions: terminalQuestions(input, output),
    });
    expect([code, keys]).toEqual([0, []]);
    const { exports } = JSON.parse(readFileSync(join(cwd, 'my-own', 'package.json'), 'utf8'));
    expect(exports).toBeDefined();
  });

  it('writes nothing where a question is not answered', async () => {
    const { code, cwd, err } = await create([], {
      questions: { choose: async () => 'tool', text: async () => undefined },
    });
    expect([code, err, readdirSync(cwd)]).toEqual([2, 'error: nothing was written\n', []]);
  });
});

describe('what is refused with exit code 2', () => {
  it.each([
    [['..'], 'can not be the name'],
    [['.'], 'can not be the name'],
    [['../evil'], 'can not be the name'],
    [['/tmp/evil'], 'can not be the name'],
    [['a/b'], 'can not be the name'],
    [['@a/../b'], 'can not be the name'],
    [['@../b'], 'can not be the name'],
    [["@x'+evil()+'/b"], 'can not be the name'],
    [["x'+evil()+'"], 'can not be the name'],
    [['a\\b'], 'can not be the name'],
    [['a\0b'], 'can not be the name'],
    [['.git'], 'can not be the name'],
    [['node_modules'], 'can not be the name'],
    [["x'; alert(1)"], 'can not be the name'],
    [['My-Agent'], 'capital letters'],
    [[''], 'can not be the name'],
    [['a'.repeat(215)], 'can not be the name'],
    [['one', 'two'], 'leave two out'],
    [['mine', '--template', 'agnet'], 'there is no template "agnet"; take one of agent, tool,'],
    [['mine', '--template', 'toString'], 'there is no template'],
    [['mine', '--tempalte', 'tool'], "Unknown option '--tempalte'"],
    [['mine', '--template'], '--template'],
  ])('%j, and nothing is written', async (args, hint) => {
    const before = treeOf(folder.base);
    const { code, out, err } = await create(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^error: /);
    expect(err).toContain(hint);
    expect(treeOf(folder.base)).toEqual(before);
  });

  it.each<[string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a file', (path) => writeFileSync(path, 'mine')],
    ['a link to a folder', (path) => symlinkSync(folder.outside, path)],
    ['a link to nowhere', (path) => symlinkSync(join(folder.base, 'nowhere'), path)],
  ])('%s of that name, which stays as it is', async (_, put) => {
    put(join(folder.dir, 'mine'));
    const before = treeOf(folder.base);
    const { code, err } = await create(['mine']);
    expect([code, err]).toEqual([
      2,
      'error: mine is there already; take another name, or move it away\n',
    ]);
    expect(treeOf(folder.base)).toEqual(before);
  });
});

describe('a failure on the way leaves nothing behind', () => {
  it('writeProject', async () => {
    const project = join(folder.dir, 'mine');
    await expect(writeProject(project, { 'a/b': '', c: '', 'c/d': '' })).rejects.toThrow('c');
    expect(treeOf(folder.dir)).toEqual({});
  });

  it('writeFiles, which keeps what was there', async () => {
    folder.put('a/mine', 'mine');
    const before = treeOf(folder.dir);
    await expect(writeFiles(folder.dir, { 'a/b': '', 'c/d': '', 'a/mine': '' })).rejects.toThrow(
      'EEXIST',
    );
    expect(treeOf(folder.dir)).toEqual(before);
  });

  it('createProject, which says why', async () => {
    const err: string[] = [];
    const io = { cwd: join(folder.dir, 'nowhere'), out: () => {}, err: err.push.bind(err) };
    expect(await runCreate(['mine'], io)).toBe(2);
    expect(err.join('')).toContain('could not be written (ENOENT)');
  });

  it.each<[string, string, (path: string) => void]>([
    ['a file', 'workspace/hello.txt', (path) => writeFileSync(path, 'mine')],
    ['a folder', 'workspace/hello.txt', (path) => mkdirSync(path)],
    ['a link to nowhere', 'workspace/hello.txt', (path) => symlinkSync(`${path}-no`, path)],
    ['a link to a file outside', 'tools/count-words.mjs', (path) => symlinkSync('/dev/null', path)],
    ['a file', 'workspace', (path) => writeFileSync(path, 'mine')],
  ])('writeHome, where %s is %s', async (_, name, put) => {
    mkdirSync(dirname(join(folder.dir, name)), { recursive: true });
    put(join(folder.dir, name));
    const before = treeOf(folder.base);
    const answers = { id: 'assistant', folder: 'workspace', commands: false };
    await expect(writeHome(folder.dir, answers)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(join(folder.dir, name)),
    });
    expect(treeOf(folder.base)).toEqual(before);
  });
});

describe('the templates', () => {
  it('name the versions that this workspace has', () => {
    const own = manifest('../package.json').devDependencies;
    const catalog = readFileSync(join(import.meta.dirname, '../../../pnpm-workspace.yaml'), 'utf8');
    for (const template of Object.keys(TEMPLATES)) {
      const { dependencies, devDependencies } = manifest(`../templates/${template}/_package.json`);
      const named = { ...dependencies, ...devDependencies };
      for (const [name, version] of Object.entries<string>(named)) {
        if (version === '{{version}}') continue;
        const ours = new RegExp(`^ {2}"?${name}"?: (\\S+)$`, 'm').exec(catalog)?.[1] ?? own[name];
        expect([name, version]).toEqual([name, ours]);
      }
    }
  });
});

function manifest(path: string) {
  return JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));
}
