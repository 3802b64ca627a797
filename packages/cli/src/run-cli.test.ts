import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { JsonlAuditSink } from '@ethosagent/audit';
import { DefaultToolRegistry } from '@ethosagent/core';
import { createHomeSecrets } from '@ethosagent/storage-fs';
import { canOpenKeychain, inCheck, isLongRun, openKeychain } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { CliIo } from './cli-io.js';
import { openCliHome } from './fixtures/cli-home.js';

const CODER = `name: Coder
toolset: [read_file, write_file]
fs_reach:
  read: ["\${CWD}/notes"]
  write: ["\${CWD}/notes"]
`;

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome({
    '.ethos/personalities/coder/config.yaml': CODER,
    'notes/a.txt': 'hello',
    'secret.txt': 'not for tools',
  });
});
afterEach(() => world.remove());

describe('the command line', () => {
  it.each([
    [['chekc'], 'Did you mean check?'],
    [['explain', 'read_file', '--all'], 'Did you mean reach?'],
    [['verify'], 'Did you mean audit verify?'],
    [['add'], 'Did you mean mcp add?'],
    [['list'], 'Did you mean approvals list, or secrets list, or sessions list?'],
    [['check', '--stirct'], 'Did you mean --strict?'],
    [['tools', 'one', 'two'], 'too many arguments'],
    [['call'], "missing required argument 'tool'"],
    [['audit', 'tail', '--lines', 'ten'], '--lines: ten is not a whole number'],
    [['audit', 'grep', '--decision', 'maybe'], '--decision: maybe is neither'],
    [['call', 'read_file', '{path: x}'], 'the arguments are not JSON'],
    [['reach', 'read_fil'], 'did you mean "read_file"?'],
    [['check', '--personality', 'codr', '--home', 'nowhere'], '--home:'],
    [['stores', 'move', '--to', ''], 'the URL of the stores is empty'],
    [['completion', 'tcsh'], 'is not one of bash, zsh, fish'],
  ])('refuses %j with exit code 2 and a hint', async (args, hint) => {
    const { code, out, err } = await world.run(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(hint);
  });

  it.each([
    [['chekc'], '(ethosagent --help lists the commands)'],
    [['audit', 'tial'], '(ethosagent audit --help lists the commands)'],
    [['audit', 'tail', '--sesion', 'x'], '(ethosagent audit tail --help lists the options)'],
    [['secrets', 'set'], '(ethosagent secrets set --help lists the options)'],
  ])('says for %j where the help is', async (args, hint) => {
    expect((await world.run(args)).err).toContain(hint);
  });

  it.each([
    ['a link to itself', 'loop', 'links lead in a circle'],
    ['below a link to itself', 'loop/home', 'links lead in a circle'],
    ['below a file', 'file/home', 'is a file where a folder should be'],
    ['a name that is too long', 'n'.repeat(300), 'too long'],
  ])('tells what to do where --home is %s', async (_, home, hint) => {
    symlinkSync('loop', join(world.cwd, 'loop'));
    world.write('file', '');
    const { code, out, err } = await world.run(['check', '--home', home]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`error: ${join(world.cwd, home)}: `);
    expect(err).toContain(hint);
  });

  it.each([
    ['ethos.config.mjs', ['tools']],
    ['mcp.json', ['mcp', 'status']],
    ['audit/audit.jsonl', ['audit', 'tail']],
  ])('tells what to do where %s of the home is a link to itself', async (name, args) => {
    mkdirSync(join(world.home, dirname(name)), { recursive: true, mode: 0o700 });
    symlinkSync(basename(name), join(world.home, name));
    const { code, err } = await world.run(args);
    expect([code, err]).toEqual([
      2,
      `error: ${join(world.home, name)}: its links lead in a circle; put the file or folder itself there (ELOOP)\n`,
    ]);
  });

  it('gives its help and version with exit code 0', async () => {
    expect((await world.run(['--help'])).out).toContain('ethosagent [options] [command]');
    expect(await world.run(['--version'])).toMatchObject({ code: 0, out: '0.1.0\n' });
  });

  it('has the version of its package', async () => {
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
    expect((await world.run(['--version'])).out.trim()).toBe(manifest.version);
  });

  it.each(['ethos.config.json', 'ethos.config.cjs', 'ethos.config.mjs/x'])(
    'does not ignore %s, which it does not read',
    async (name) => {
      world.write(`.ethos/${name}`, '{}');
      const { code, err } = await world.run(['tools']);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/ethos\.config\.\w+ is not read; write the file ethos\.config\.mjs/),
      ]);
    },
  );

  it('says which package its ethos.config lacks', async () => {
    world.write('.ethos/ethos.config.mjs', "import 'no-such-package-of-ours/sub';");
    const { code, err } = await world.run(['tools']);
    expect(code).toBe(2);
    expect(err).toContain('npm install no-such-package-of-ours\n');
  });

  it('refuses a personality of its ethos.config that is no text', async () => {
    world.write('.ethos/ethos.config.mjs', "export default { personality: ['coder'] };");
    for (const command of ['check', 'tools']) {
      const { code, err } = await world.run([command]);
      expect([code, err]).toEqual([2, expect.stringContaining('personality is not a text')]);
    }
  });

  it.each(['tools', 'secrets list', 'run hello'])(
    'names the file with an option that there is not, for %s',
    async (command) => {
      world.write('.ethos/ethos.config.mjs', "export default { denyPathes: ['/srv'] };");
      const { code, err } = await world.run(command.split(' '));
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(
          /ethos\.config\.mjs: there is no option "denyPathes"; did you mean "denyPaths"\?/,
        ),
      ]);
    },
  );

  it('waits for a promise of its ethos.config', async () => {
    world.write('.ethos/ethos.config.mjs', 'export default Promise.resolve({ tools: [] });');
    expect((await world.run(['tools'])).out).not.toContain('read_file');
  });

  it('does not go to another home for its ethos.config', async () => {
    world.write('.ethos/ethos.config.mjs', "export default { home: '/other' };");
    const { code, err } = await world.run(['tools']);
    expect([code, err]).toEqual([2, expect.stringContaining('the key "home" can not change')]);
  });

  it.each([[['lokc', '--json']], [['--json', 'lock', 'x']], [['--json', 'call']]])(
    'gives JSON for %j, which it can not read',
    async (args) => {
      const { code, out, err } = await world.run(args);
      expect([code, err]).toEqual([2, '']);
      expect(JSON.parse(out).error.code).toBe('CONFIG_INVALID');
    },
  );

  it.each([
    [['--json'], 'the command is missing. Usage: ethosagent [options] [command]; --help'],
    [['audit', '--json'], 'the command is missing. Usage: ethosagent audit [options] [command]; '],
    [['--json', 'verify'], "unknown command 'verify'\n(Did you mean audit verify?)"],
  ])('gives JSON of one short message for %j', async (args, message) => {
    const { code, out } = await world.run(args);
    expect([code, JSON.parse(out).error.message]).toEqual([2, expect.stringContaining(message)]);
    expect(out.length).toBeLessThan(300);
  });

  it('takes no option of the program that it is to run for its own', async () => {
    const { out, err } = await world.run(['lokc', '--', '--json']);
    expect(out).toBe('');
    expect(err).toContain('Did you mean lock?');
  });

  it('gives an error as JSON with its code where JSON is asked for', async () => {
    const { code, out } = await world.run(['reach', 'read_fil', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(out).error.code).toBe('TOOL_NOT_FOUND');
  });
});

describe('the home', () => {
  it('is found in a folder above', async () => {
    mkdirSync(join(world.cwd, 'notes', 'deep'));
    const run = await world.run(['check'], { cwd: join(world.cwd, 'notes', 'deep') });
    expect(run.out).toContain('1 personality');
  });

  it('is that of --home before that of ETHOS_HOME', async () => {
    const other = openCliHome({ '.ethos/personalities/clerk/config.yaml': 'name: Clerk\n' });
    try {
      const env = { ETHOS_HOME: other.home };
      const byVariable = await world.run(['check', '--json'], { env });
      expect(JSON.parse(byVariable.out).personalities).toEqual(['clerk']);
      const byOption = await world.run(['check', '--json', '--home', world.home], { env });
      expect(JSON.parse(byOption.out).personalities).toEqual(['coder']);
    } finally {
      other.remove();
    }
  });

  it('is refused where other users may write in it: its ethos.config would run', async () => {
    world.write('.ethos/ethos.config.mjs', 'globalThis.ranByAnother = true; export default {};');
    chmodSync(world.home, 0o777);
    const { code, err } = await world.run(['check']);
    expect(code).toBe(2);
    expect(err).toContain('may be written by other users');
    expect(globalThis).not.toHaveProperty('ranByAnother');
  });

  it('is refused where other users may write its ethos.config, also through a link', async () => {
    const text = 'globalThis.ranByAnother = true; export default {};';
    world.write('.ethos/ethos.config.mjs', text);
    chmodSync(join(world.home, 'ethos.config.mjs'), 0o666);
    const open = await world.run(['check']);
    rmSync(join(world.home, 'ethos.config.mjs'));
    world.write('notes/theirs.mjs', text);
    chmodSync(join(world.cwd, 'notes', 'theirs.mjs'), 0o666);
    symlinkSync(join(world.cwd, 'notes', 'theirs.mjs'), join(world.home, 'ethos.config.mjs'));
    const linked = await world.run(['check']);
    for (const { code, err } of [open, linked]) {
      expect(code).toBe(2);
      expect(err).toContain('ethos.config.mjs may be written by other users');
    }
    expect(globalThis).not.toHaveProperty('ranByAnother');
  });

  it('is refused where there is none', async () => {
    const { code, err } = await world.run(['check'], { cwd: '/' });
    expect(code).toBe(2);
    expect(err).toContain('ethosagent init');
  });

  it('says which personalities there are where none is named', async () => {
    world.write('.ethos/personalities/clerk/config.yaml', 'name: Clerk\n');
    const { code, err } = await world.run(['tools']);
    expect([code, err]).toEqual([
      2,
      'error: which personality? name one with --personality: clerk, coder\n',
    ]);
  });

  it.each([
    ['list', 0, 'there are no sessions'],
    ['show s', 2, 's'],
    ['export s', 2, 's'],
    ['end s', 1, 'there is no session s'],
    ['resume s', 2, 'nothing of the session s waits'],
  ])('needs no personality to be named for sessions %s', async (command, exit, text) => {
    world.write('.ethos/personalities/clerk/config.yaml', 'name: Clerk\n');
    const { code, out, err } = await world.run(['sessions', ...command.split(' ')]);
    expect([code, out + err]).toEqual([exit, expect.stringContaining(text)]);
    expect(err).not.toContain('which personality');
  });
});

describe('ethos.config', () => {
  it('gives the tools and the personality of the agent', async () => {
    world.write(
      '.ethos/ethos.config.mjs',
      `export default { personality: 'coder', tools: [{
        name: 'shout', description: 'Shouts.', schema: { type: 'object', properties: {} },
        capabilities: {},
        async execute() { return { ok: true, value: 'AHOY' }; },
      }] };`,
    );
    expect(JSON.parse((await world.run(['tools', '--all', '--json'])).out)).toMatchObject([
      { tool: 'shout' },
    ]);
  });

  it.each([
    ['export default 3;', 'no default export that is an object'],
    ['export const a = 1;', 'no default export that is an object'],
    ['throw new Error("boom");', 'boom'],
    ['export default { tools: 7 };', 'tools'],
  ])('is refused where it is %s', async (text, hint) => {
    world.write('.ethos/ethos.config.mjs', text);
    const { code, err } = await world.run(['tools']);
    expect(code).toBe(2);
    expect(err).toContain(hint);
  });
});

describe('init', () => {
  const open = (io: Partial<CliIo> = {}) => {
    rmSync(world.home, { recursive: true });
    return world.run(['init'], io);
  };

  it('writes a project that check finds nothing wrong with, for its owner alone', async () => {
    const { code, out } = await open();
    expect([code, out]).toEqual([0, expect.stringContaining('npx ethosagent check')]);
    expect(statSync(world.home).mode & 0o077).toBe(0);
    // Its tool needs an installed package, which this folder lacks.
    world.write('.ethos/ethos.config.mjs', "export default { personality: 'assistant' };");
    const personality = join(world.home, 'personalities', 'assistant', 'config.yaml');
    const text = readFileSync(personality, 'utf8').replace('count_words, ', '');
    world.write('.ethos/personalities/assistant/config.yaml', text);
    expect((await world.run(['check', '--strict'])).out).toBe(
      '1 personality: 0 errors, 0 warnings\n',
    );
    const call = ['call', 'read_file', '{"path":"workspace/hello.txt"}'];
    expect((await world.run(call)).out).toContain('wheel barrow');
  });

  it('asks at a terminal, and again for what can not be', async () => {
    const answers = ['../evil', 'clerk', '/etc', 'a/../../b', 'papers', 'yes'];
    const { code } = await open({ ask: async () => answers.shift() });
    expect(code).toBe(0);
    const file = join(world.home, 'personalities', 'clerk', 'config.yaml');
    expect(readFileSync(file, 'utf8')).toContain('sandbox: required');
    expect(existsSync(join(world.cwd, 'papers', 'hello.txt'))).toBe(true);
    world.write('.ethos/ethos.config.mjs', 'export default {};');
    const { findings } = JSON.parse((await world.run(['check', '--json'])).out);
    expect(findings.filter(({ level }: { level: string }) => level === 'error')).toEqual([]);
  });

  it('makes a project in a new folder where it gets a name or a template', async () => {
    const args = ['init', 'my-tool', '--template', 'tool', '--yes'];
    expect(await world.run(args)).toMatchObject({
      code: 0,
      out: expect.stringContaining('cd my-tool\n  npm install\n'),
    });
    expect(existsSync(join(world.cwd, 'my-tool', 'src', 'count-words.ts'))).toBe(true);
    const answers = ['../evil', 'my-plugin'];
    const asked = await world.run(['init', '--template', 'plugin'], {
      ask: async () => answers.shift(),
    });
    expect(asked).toMatchObject({ code: 0, err: expect.stringContaining('name') });
    expect(readdirSync(world.cwd)).toContain('my-plugin');
    const json = await world.run(['init', 'mine', '--json']);
    expect(JSON.parse(json.out).files).toContain('src/main.ts');
  });

  it.each([
    [['init', 'notes', '--yes'], 'notes is there already'],
    [['init', '../evil', '--yes'], '"../evil" can not be the name'],
    [['init', '--template', 'agnet'], 'there is no template "agnet"'],
    [['init', 'mine', '--home', 'x/.ethos'], '--home:'],
  ])('refuses %j, and writes nothing', async (args, hint) => {
    const before = readdirSync(world.cwd);
    const { code, err } = await world.run(args);
    expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
    expect(readdirSync(world.cwd)).toEqual(before);
    expect(existsSync(join(world.cwd, '..', 'evil'))).toBe(false);
  });

  it('writes over nothing, and nothing where questions are not answered', async () => {
    world.write('tools/count-words.mjs', 'mine');
    expect((await open()).code).toBe(2);
    expect(readFileSync(join(world.cwd, 'tools', 'count-words.mjs'), 'utf8')).toBe('mine');
    expect(existsSync(world.home)).toBe(false);
    rmSync(join(world.cwd, 'tools'), { recursive: true });
    expect((await world.run(['init'], { ask: async () => undefined })).code).toBe(2);
    expect(existsSync(world.home)).toBe(false);
  });
});

describe('check', () => {
  it('finds nothing where nothing is wrong', async () => {
    const { code, out } = await world.run(['check', '--strict']);
    expect([code, out]).toEqual([0, '1 personality: 0 errors, 0 warnings\n']);
  });

  it('tells of every personality, with file and line, and exits with 1 for an error', async () => {
    world.write('.ethos/personalities/broken/config.yaml', 'name: B\ntoolset: 7\nfs_raech: {}\n');
    world.write('.ethos/personalities/wide/config.yaml', 'name: W\ntoolset: [read_fil]\n');
    const { code, out } = await world.run(['check', '--json']);
    const { findings } = JSON.parse(out);
    expect(code).toBe(1);
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          personality: 'broken',
          level: 'error',
          message: expect.stringMatching(/broken\/config\.yaml:2:\d+: toolset/),
        }),
        expect.objectContaining({
          personality: 'wide',
          level: 'warning',
          message: expect.stringMatching(/wide\/config\.yaml:2:\d+: .*did you mean "read_file"/),
        }),
      ]),
    );
  });

  it('gives a warning the same level in a file that also has an error', async () => {
    const levelsWith = async (name: string) => {
      const file = `toolset: [read_file, read_fil]\nname: ${name}\n`;
      world.write('.ethos/personalities/coder/config.yaml', file);
      const { findings } = JSON.parse((await world.run(['check', '--json'])).out);
      return findings.flatMap(({ level, message, key }: Record<string, string>) =>
        key === 'fs_reach' ? [] : [[level, key, message?.includes('read_fil is')]],
      );
    };
    expect(await levelsWith('C')).toEqual([['warning', 'toolset', true]]);
    expect(await levelsWith('7')).toEqual([
      ['warning', 'toolset', true],
      ['error', undefined, false],
    ]);
  });

  it('finds a personality of ethos.config that does not exist', async () => {
    world.write('.ethos/ethos.config.mjs', "export default { personality: 'codr' };");
    const { code, out } = await world.run(['check']);
    expect(code).toBe(1);
    expect(out).toContain(
      'error home: personality of ethos.config: there is no personality "codr"; did you mean "coder"?',
    );
  });

  it('finds an empty file, and says what to write', async () => {
    world.write('.ethos/personalities/coder/config.yaml', '');
    expect((await world.run(['check'])).out).toContain('write lines such as "key: value"');
  });

  it('warns of a folder that does not exist, once', async () => {
    const file = CODER.replaceAll('/notes', '/note');
    world.write('.ethos/personalities/coder/config.yaml', file);
    const { out } = await world.run(['check']);
    expect(out).toMatch(
      /^warning coder: .*config\.yaml:4:10: fs_reach\.read: there is nothing at .*\/note; correct the path, or make the folder\n1 personality: 0 errors, 1 warning\n$/,
    );
  });

  const slips: [string, string][] = [
    ['toolset: [read_file, web_serach]', 'web_search'],
    ['toolset: [read_file, termnal]', 'terminal'],
    ['toolset: [read_file]\ntool_settings:\n  web_serach: {}', 'web_search'],
  ];
  it.each(inCheck(slips, ([, meant]) => meant === 'terminal'))(
    'knows the tools of all extensions where %j is a slip',
    async (text, meant) => {
      world.write('.ethos/personalities/coder/config.yaml', `name: C\n${text}\n`);
      expect((await world.run(['check'])).out).toContain(`did you mean "${meant}"`);
    },
  );

  it('warns of a tool that is registered and that no personality lists', async () => {
    const put = (id: string, toolset: string) =>
      world.write(`.ethos/personalities/${id}/config.yaml`, `name: P\n${toolset}\n`);
    const unlisted = async (...args: string[]) => {
      const { findings } = JSON.parse((await world.run(['check', '--json', ...args])).out);
      return findings.filter(({ key }: { key: string }) => key === 'toolset');
    };
    const tool = (name: string) =>
      `{ name: '${name}', description: 'Counts.', schema: { type: 'object' }, capabilities: {},
        alwaysInclude: ${name === 'always'}, async execute() { return { ok: true, value: '' }; } }`;
    world.write(
      '.ethos/ethos.config.mjs',
      `export default { tools: ['read_file', 'write_file', ${tool('count')}, ${tool('always')}] };`,
    );
    put('coder', 'toolset: [read_file]');
    put('clerk', 'toolset: [write_file]');
    expect(await unlisted()).toEqual([
      {
        level: 'warning',
        key: 'toolset',
        tool: 'count',
        message: expect.stringMatching(
          /^count is registered, but no personality lists it.*add it to "toolset" in personalities\/<id>\/config\.yaml/,
        ),
      },
    ]);
    expect((await world.run(['check'])).out).toContain('warning tools: count is registered');
    // One personality alone does not tell what the others list.
    expect(await unlisted('--personality', 'coder')).toEqual([]);
    put('clerk', 'description: All tools.');
    expect(await unlisted()).toEqual([]);
    put('clerk', 'toolset: 7');
    expect((await unlisted()).filter(({ tool }: { tool: string }) => tool === 'count')).toEqual([]);
  });

  it('exits with 1 for a warning only where it is strict', async () => {
    world.write('.ethos/personalities/coder/config.yaml', `${CODER}mcp_servers: [nowhere]\n`);
    expect((await world.run(['check'])).code).toBe(0);
    expect((await world.run(['check', '--strict'])).code).toBe(1);
  });
});

describe('reach and tools', () => {
  it('list what the personality offers, and what each tool may touch', async () => {
    expect((await world.run(['tools'])).out).toMatch(/^read_file {3}.*\nwrite_file {2}.*\n$/);
    const { tools } = JSON.parse((await world.run(['reach', '--json'])).out);
    expect(tools.map(({ tool }: { tool: string }) => tool)).toEqual(['read_file', 'write_file']);
    const { out } = await world.run(['reach', 'read_file']);
    expect(out).toContain(join(world.cwd, 'notes'));
    expect(out).not.toContain('secret.txt');
  });
});

describe('call', () => {
  it.each([
    ['TOOL_NOT_FOUND', ['call', 'read_fil', '{}'], '"ethosagent tools" lists the tools'],
    ['INPUT_INVALID', ['call', 'read_file', '{"path":7}'], 'Call it with other arguments'],
  ])('says of %s that nothing was reached, and points to no log', async (code, args, next) => {
    const { err } = await world.run(args);
    expect(err).toContain(code);
    expect(err).toContain(`The tool did not run. ${next}`);
    expect(err).not.toContain('audit show');
  });

  it('runs what is allowed, and writes it down', async () => {
    const { code, out } = await world.run(['call', 'read_file', '{"path":"notes/a.txt"}']);
    expect([code, out]).toEqual([0, expect.stringContaining('hello')]);
    expect((await world.run(['audit', 'grep', 'a.txt', '--decision', 'allowed'])).out).toContain(
      'fs_reach.read allowed',
    );
    expect((await world.run(['audit', 'verify'])).code).toBe(0);
  });

  it('takes its arguments from standard input', async () => {
    const readInput = async () => '{"path":"notes/a.txt"}';
    expect((await world.run(['call', 'read_file', '-'], { readInput })).code).toBe(0);
  });

  it('refuses what is denied with exit code 1, and says why', async () => {
    const { code, out } = await world.run(['call', 'read_file', '{"path":"secret.txt"}', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out).result).toMatchObject({ ok: false, cause: 'PATH_NOT_REACHABLE' });
  });

  it('runs nothing in a dry run', async () => {
    const args = '{"path":"notes/b.txt","content":"x"}';
    const { code, out } = await world.run(['call', 'write_file', args, '--dry-run']);
    expect([code, out]).toEqual([0, expect.stringContaining('dry-run')]);
    expect(existsSync(join(world.cwd, 'notes', 'b.txt'))).toBe(false);
    const log = await world.run(['audit', 'tail']);
    expect(log.out).toContain('call ok  dry run, ');
  });

  it('knows what a session has read: a write after it asks whoever sits at the terminal', async () => {
    await world.run(['call', 'read_file', '{"path":"notes/a.txt"}', '--session', 's']);
    const write = ['call', 'write_file', '{"path":"notes/b.txt","content":"x"}', '--session', 's'];
    const questions: string[] = [];
    const answering = (...answers: string[]) => ({
      ask: async (question: string) => {
        questions.push(question);
        return answers.shift();
      },
    });
    const refused = await world.run(write, answering('n'));
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('notes/a.txt');
    expect(existsSync(join(world.cwd, 'notes', 'b.txt'))).toBe(false);
    const edited = await world.run(
      write,
      answering('what?', 'e', '{"path":"notes/c.txt","content":"y"}'),
    );
    expect(edited.code).toBe(0);
    expect(existsSync(join(world.cwd, 'notes', 'b.txt'))).toBe(false);
    expect(readFileSync(join(world.cwd, 'notes', 'c.txt'), 'utf8')).toBe('y');
    expect(questions.length).toBe(4);
    // An edit does not widen the reach: the new arguments are checked too.
    const outside = await world.run(write, answering('e', '{"path":"secret.txt","content":"y"}'));
    expect(outside.code).toBe(1);
    expect(readFileSync(join(world.cwd, 'secret.txt'), 'utf8')).toBe('not for tools');
    // Nobody can be asked, so the call waits.
    const waiting = await world.run([...write, '--json']);
    expect(waiting.code).toBe(1);
    expect(JSON.parse(waiting.out).approval).toMatchObject({ toolName: 'write_file' });
    expect((await world.run([...write, '--yes'])).code).toBe(0);
  });

  it('writes nothing to the terminal that moves its cursor or hides text', async () => {
    world.write('notes/evil.txt', 'a\u001b[2Jb\u009b31mc\u202Ed\r\u001b]0;title\u0007e');
    const { out, err } = await world.run(['call', 'read_file', '{"path":"notes/evil.txt"}']);
    expect(`${out}${err}`).not.toMatch(/[^\n\P{Cc}]|\u202E/u);
  });
});

describe('secrets', () => {
  it('are stored for their owner alone, listed by name, and never shown', async () => {
    const readInput = async () => 'sk-very-secret\n';
    const set = await world.run(['secrets', 'set', 'providers/exa/apiKey'], { readInput });
    expect(set.code).toBe(0);
    const file = join(world.home, 'secrets', 'providers', 'exa', 'apiKey');
    expect(readFileSync(file, 'utf8')).toBe('sk-very-secret\n');
    expect(statSync(file).mode & 0o077).toBe(0);
    const list = await world.run(['secrets', 'list']);
    expect(list.out).toBe('providers/exa/apiKey  file\n');
    const all = [set, list].map(({ out, err }) => out + err).join('');
    expect(all).not.toContain('very-secret');
    expect((await world.run(['secrets', 'remove', 'providers/exa/apiKey'])).code).toBe(0);
    expect((await world.run(['secrets', 'remove', 'providers/exa/apiKey'])).code).toBe(1);
    const none = await world.run(['secrets', 'list']);
    expect([none.out, none.err]).toEqual(['', expect.stringContaining('secrets set REF')]);
  });

  it('are typed unseen at a terminal', async () => {
    const askSecret = async () => 'typed';
    await world.run(['secrets', 'set', 'KEY'], { askSecret });
    expect(readFileSync(join(world.home, 'secrets', 'KEY'), 'utf8')).toBe('typed\n');
  });

  it.each(['../x', '/etc/x', 'a//b', ''])('refuse the name %j', async (ref) => {
    const { code, err } = await world.run(['secrets', 'set', ref], {
      askSecret: async () => {
        throw new Error('a value was asked for');
      },
    });
    expect(code).toBe(2);
    expect(err).toContain('the ref is malformed');
  });

  it('are in one place', async () => {
    const { code, err } = await world.run(['secrets', 'set', 'KEY', '--file', '--keychain']);
    expect([code, err]).toEqual([2, 'error: --file and --keychain: choose one of them\n']);
  });

  it('are not in a keychain where there is none', async () => {
    const args = ['secrets', 'set', 'KEY', '--keychain'];
    const { code, err } = await world.run(args, { readInput: async () => 'v' });
    expect(code).toBe(2);
    expect(err).toContain('secrets set KEY --file');
    expect((await world.run(['secrets', 'list'])).out).toBe('');
  });

  it.runIf(canOpenKeychain())('are in the keychain where there is one', async () => {
    const keychain = await openKeychain();
    onTestFinished(() => keychain.close());
    const given = (value: string) => ({ env: keychain.env, readInput: async () => value });
    const set = await world.run(['secrets', 'set', 'a/KEY'], given('sesame-1'));
    expect(set.out).toBe('stored a/KEY, in the keychain of the system\n');
    await world.run(['secrets', 'set', 'b', '--file'], given('sesame-2'));
    const list = await world.run(['secrets', 'list'], given(''));
    expect(list.out).toBe('a/KEY  keychain\nb      file\n');
    expect(existsSync(join(world.home, 'secrets', 'a/KEY'))).toBe(false);
    // The secret stays in the same place.
    expect((await world.run(['secrets', 'rotate', 'a/KEY'], given('sesame-3'))).code).toBe(0);
    const secrets = createHomeSecrets({ home: world.home, env: keychain.env });
    expect([await secrets.get('a/KEY'), await secrets.placeOf('a/KEY')]).toEqual([
      'sesame-3',
      'keychain',
    ]);
    expect((await world.run(['secrets', 'remove', 'a/KEY'], given(''))).code).toBe(0);
    expect((await world.run(['secrets', 'list'], given(''))).out).toBe('b  file\n');
  });

  it('are not stored empty', async () => {
    expect((await world.run(['secrets', 'set', 'KEY'])).code).toBe(2);
    expect(existsSync(join(world.home, 'secrets', 'KEY'))).toBe(false);
  });

  it('that tools declare and that are missing are found', async () => {
    world.write(
      '.ethos/ethos.config.mjs',
      `export default { tools: [{
        name: 'search', description: 'Searches.', schema: { type: 'object', properties: {} },
        capabilities: { secrets: ['EXA_KEY'], network: { allowedHosts: ['api.exa.ai'] } },
        async execute() { return { ok: true, value: '' }; },
      }] };`,
    );
    world.write(
      '.ethos/personalities/coder/config.yaml',
      'name: C\nsafety: { network: { allow: [api.exa.ai] } }\n',
    );
    const missing = await world.run(['secrets', 'check', '--json']);
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.out).secrets).toEqual([
      { tool: 'search', ref: 'EXA_KEY', state: 'missing' },
    ]);
    await world.run(['secrets', 'set', 'EXA_KEY'], { readInput: async () => 'v' });
    expect((await world.run(['secrets', 'check'])).code).toBe(0);
  });
});

describe('audit', () => {
  it('verify finds a line that was changed', async () => {
    await world.run(['call', 'read_file', '{"path":"notes/a.txt"}']);
    const log = join(world.home, 'audit', 'audit.jsonl');
    world.write(
      '.ethos/audit/audit.jsonl',
      readFileSync(log, 'utf8').replace('notes/a.txt', 'notes/z.txt'),
    );
    const { code, out } = await world.run(['audit', 'verify']);
    expect(code).toBe(1);
    expect(out).toContain('edited');
    expect(out).toContain(' events, 1 problem: keep a copy');
  });

  it('show gives all events of a call, and tail the newest of all logs', async () => {
    await world.run(['call', 'read_file', '{"path":"notes/a.txt"}']);
    const lines = (await world.run(['audit', 'tail', '--json'])).out.trim().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ kind: 'call', outcome: 'ok', toolName: 'read_file' });
    const shown = await world.run(['audit', 'show', events[0].toolCallId, '--json']);
    expect(shown.out.trim().split('\n')).toEqual(lines);
    const { toolCallId, sessionId } = events.at(-1);
    const rows = (await world.run(['audit', 'tail', '--lines', '1'])).out.trim().split('\n');
    expect(rows).toEqual([`session ${sessionId}`, expect.stringContaining(`  ${toolCallId}  `)]);
    expect((await world.run(['audit', 'show', 'nothing'])).code).toBe(2);
    expect((await world.run(['audit', 'grep', 'no such text'])).code).toBe(1);
  });

  it.runIf(isLongRun())('tail gives the id that show takes, below its session', async () => {
    const call = ['call', 'read_file', '{"path":"notes/a.txt"}', '--session'];
    for (const session of ['first', 'second']) await world.run([...call, session]);
    const lines = (await world.run(['audit', 'tail'])).out.trim().split('\n');
    expect(lines.filter((line) => line.startsWith('session '))).toEqual([
      'session first',
      'session second',
    ]);
    const last = lines.slice(lines.indexOf('session second'));
    const [, id = ''] = last.at(-1)?.split('  ') ?? [];
    expect((await world.run(['audit', 'show', id])).out.trim().split('\n')).toEqual(
      expect.arrayContaining(last),
    );
    const ofSession = (await world.run(['audit', 'show', 'second'])).out.trim().split('\n');
    expect(ofSession).toEqual(expect.arrayContaining(last));
    expect(ofSession).not.toContain('session first');
  });

  it('says what can be done about a host that a tool does not declare', async () => {
    const sink = new JsonlAuditSink({ path: join(world.home, 'audit', 'audit.jsonl') });
    const registry = new DefaultToolRegistry({ audit: sink });
    registry.register({
      name: 'ask',
      description: 'Asks a host that it did not declare.',
      schema: { type: 'object' },
      capabilities: { network: { allowedHosts: ['api.github.com'] } },
      execute: async (_, ctx) => {
        await ctx.scopedFetch?.fetch('https://api.stripe.com/v1');
        return { ok: true, value: '' };
      },
    });
    await registry.executeParallel([{ toolCallId: 'c1', name: 'ask', args: {} }], {
      sessionId: 's1',
      sessionKey: 'cli:s1',
      platform: 'cli',
      workingDir: world.home,
      currentTurn: 1,
      messageCount: 0,
      abortSignal: new AbortController().signal,
      emit: () => {},
    });
    await sink.close();
    expect((await world.run(['audit', 'show', 'c1'])).out).toMatch(
      /network denied.*api\.stripe\.com\/v1: not in the host set; the tool does not declare this host.* can add them to capabilities\.network\.allowedHosts/,
    );
  });

  it('says so where there is no log', async () => {
    expect((await world.run(['audit', 'verify'])).code).toBe(2);
    expect((await world.run(['audit', 'tail'])).err).toContain('there is no audit log');
  });
});

describe('doctor', () => {
  it('looks at what is on this machine, and at the PATH of its environment alone', async () => {
    const { code, out } = await world.run(['doctor', '--json'], { env: { PATH: '/nowhere' } });
    const { findings } = JSON.parse(out);
    expect(code).toBe(0);
    expect(findings).toContainEqual({ what: 'home', state: 'ok', detail: world.home });
    expect(findings).toContainEqual({ what: 'SQLite', state: 'ok', detail: 'better-sqlite3' });
    expect(findings).toContainEqual(
      expect.objectContaining({ what: 'keychain', state: 'missing' }),
    );
    expect(findings.find(({ what }: { what: string }) => what === 'git').state).toBe('missing');
  });
});

describe('completion', () => {
  const typing: [string, string[]][] = [
    ['', ['init', 'audit']],
    ['audit', ['tail', 'verify']],
    ['--home x audit', ['tail', 'verify']],
    ['--home x --json mcp', ['status']],
    ['call read_file', ['--dry-run']],
  ];
  it.each(inCheck(typing, ([typed]) => typed === '--home x audit'))(
    'in bash, after "ethosagent %s", knows what may follow',
    async (typed, expected) => {
      const { out } = await world.run(['completion', 'bash']);
      const words = ['ethosagent', ...typed.split(' ').filter((word) => word !== ''), ''];
      const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _ethosagent; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const given = execFileSync('bash', ['-c', `${out}\n${ask}`], { encoding: 'utf8' }).split(
        '\n',
      );
      expect(given).toEqual(expect.arrayContaining(expected));
    },
  );

  it.each(['bash', 'zsh', 'fish'])('is written for %s', async (shell) => {
    const { code, out } = await world.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['check', 'verify', 'personality', 'approve', 'follow', 'rotate'])
      expect(out).toContain(word);
  });
});
