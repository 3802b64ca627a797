import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCheck } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

const CODER = `name: Coder
toolset: [read_file, write_file]
fs_reach:
  read: ["\${CWD}/notes"]
  write: ["\${CWD}/notes"]
`;
const FILE = '.ethos/personalities/coder/config.yaml';

let world: ReturnType<typeof openCliHome>;
beforeEach(() => {
  world = openCliHome({ [FILE]: CODER, 'notes/a.txt': 'hello' });
});
afterEach(() => world.remove());

const lockText = () => readFileSync(join(world.home, 'reach.lock'), 'utf8');

describe('ethosagent lock', () => {
  it('writes a lock, and finds nothing different afterwards', async () => {
    expect(await world.run(['lock'])).toMatchObject({
      code: 0,
      out: 'wrote .ethos/reach.lock: 1 personality, 2 tools\n',
    });
    expect(lockText()).toContain('- tool: read_file');
    expect(lockText()).not.toContain(world.cwd);
    expect(await world.run(['lock', '--check'])).toMatchObject({
      code: 0,
      out: 'the reach is as .ethos/reach.lock says\n',
    });
  });

  it('exits with 1 for what is widened, with the line that did it', async () => {
    await world.run(['lock']);
    world.write(
      FILE,
      CODER.replace('write: ["${CWD}/notes"]', 'write: ["${CWD}/notes", "${CWD}/src"]'),
    );
    const { code, out } = await world.run(['lock', '--check']);
    expect(code).toBe(1);
    expect(out).toContain(
      `widened coder write_file: gains writes in ${join(world.cwd, 'src')} (${FILE}:5; declared in fs_reach.write of the tool, which is in @ethosagent/tools-file)\n`,
    );
    expect(out).toContain('1 widened, 0 narrowed, 0 text only\n');
  });

  it('exits with 0 for what is narrowed', async () => {
    await world.run(['lock']);
    world.write(FILE, CODER.replace('toolset: [read_file, write_file]', 'toolset: [read_file]'));
    const { code, out, err } = await world.run(['lock', '--check']);
    expect([code, out.split('\n')[0]]).toEqual([
      0,
      `narrowed coder write_file: is not there any more (${FILE})`,
    ]);
    expect(err).toContain('nothing is widened');
  });

  it('tells what it changes in the lock', async () => {
    await world.run(['lock']);
    world.write(FILE, CODER.replace('write_file]', 'write_file, search_files]'));
    const { out } = await world.run(['lock']);
    expect(out).toMatch(/^widened coder search_files: is new .*\nwrote /);
    expect((await world.run(['lock', '--check'])).code).toBe(0);
  });

  it('gives changes as JSON', async () => {
    await world.run(['lock']);
    world.write(FILE, CODER.replace('write_file]', 'write_file, search_files]'));
    const { code, out } = await world.run(['lock', '--check', '--json']);
    expect(code).toBe(1);
    const said = JSON.parse(out);
    expect(said).toMatchObject({ ok: false, file: join(world.home, 'reach.lock') });
    expect(said.changes).toMatchObject([
      {
        kind: 'widened',
        personality: 'coder',
        tool: 'search_files',
        file: join(world.cwd, FILE),
        line: 2,
      },
    ]);
  });

  it('gives changes as SARIF, at the line of the personality', async () => {
    await world.run(['lock']);
    world.write(FILE, CODER.replace('write_file]', 'write_file, search_files]'));
    const { code, out } = await world.run(['lock', '--check', '--sarif']);
    expect(code).toBe(1);
    const { version, runs } = JSON.parse(out);
    expect([version, runs.length]).toEqual(['2.1.0', 1]);
    const [{ tool, results }] = runs;
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toContain(results[0].ruleId);
    expect(results).toEqual([
      {
        ruleId: 'reach-widened',
        level: 'error',
        message: { text: expect.stringMatching(/^coder search_files: is new/) },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: FILE, uriBaseId: '%SRCROOT%' },
              region: { startLine: 2 },
            },
          },
        ],
      },
    ]);
  });

  it('gives SARIF without results where nothing changed', async () => {
    await world.run(['lock']);
    const { code, out } = await world.run(['lock', '--check', '--sarif']);
    expect([code, JSON.parse(out).runs[0].results]).toEqual([0, []]);
  });

  it('holds every personality, and checks one where one is named', async () => {
    world.write('.ethos/personalities/other/config.yaml', 'name: Other\ntoolset: []\n');
    await world.run(['lock', '--file', 'agents.lock']);
    world.write('.ethos/personalities/other/config.yaml', 'name: Other\ntoolset: [read_file]\n');
    const check = ['lock', '--check', '--file', 'agents.lock'];
    expect((await world.run([...check, '--personality', 'coder'])).code).toBe(0);
    expect((await world.run([...check, '--personality', 'other'])).code).toBe(1);
    expect((await world.run(check)).code).toBe(1);
  });

  it.each<[string, string[], string]>([
    ['no lock', ['lock', '--check'], 'write it with "ethosagent lock"'],
    ['SARIF without a check', ['lock', '--sarif'], 'add --check'],
    ['SARIF and JSON', ['lock', '--check', '--sarif', '--json'], 'leave --json out'],
    ['one personality', ['lock', '--personality', 'coder'], 'leave --personality out'],
    ['a file that tools may write', ['lock', '--file', 'notes/reach.lock'], 'tools may write'],
  ])('does nothing with %s', async (_, args, hint) => {
    const { code, out, err } = await world.run(args);
    expect(code).toBe(2);
    expect(out + err).toContain(hint);
  });

  const wrong: [string, (text: string) => string, string][] = [
    ['another version', (text) => text.replace('version: 1', 'version: 2'), ':4:10: version'],
    ['no version', (text) => text.replace('version: 1\n', ''), 'version'],
    ['an unknown key', (text) => text.replace('environment:', 'environmen:'), 'reach.lock:'],
    [
      'an edited list',
      (text) => text.replace('- tool: read_file', '- tool: read_file # x'),
      'it was edited',
    ],
    ['a comment', (text) => `${text}# by hand\n`, 'it was edited'],
    ['a merge', (text) => `<<<<<<< ours\n${text}`, 'reach.lock:5:'],
    ['nothing', () => '', 'reach.lock:'],
    ['a second document', (text) => `${text}---\nversion: 1\n`, 'a second document'],
    ['an alias', (text) => text.replace('servers: []', 'servers: *x'), 'aliases'],
  ];
  const standing = ['another version', 'an edited list', 'nothing', 'an alias'];
  it.each(inCheck(wrong, ([what]) => standing.includes(what)))(
    'says where a lock with %s is wrong, and never that it matches',
    async (_, edit, hint) => {
      await world.run(['lock']);
      writeFileSync(join(world.home, 'reach.lock'), edit(lockText()));
      const { code, out, err } = await world.run(['lock', '--check']);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(hint);
      expect((await world.run(['lock'])).code).toBe(0);
      expect((await world.run(['lock', '--check'])).code).toBe(0);
    },
  );

  it('says where the tool stands whose own declaration widened it, or in which package', async () => {
    const tool = (hosts: string) => `
      export const look = {
        name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} },
        capabilities: { network: { allowedHosts: [${hosts}] } },
        async execute() { return { ok: true, value: '' }; },
      };`;
    const named = `\n# The tool.\nsafety: { network: { allow: ['*.example.com'] } }\n`;
    const config = `import { look } from '../tools/look.mjs';\nexport default { tools: [look, 'read_file', 'write_file', 'search_files'] };`;
    // Each in a home of its own, since a process loads a module only once.
    const homeWith = (text: string) => {
      const home = openCliHome({
        [FILE]: `${CODER.replace('toolset: [', 'toolset: [look, ')}${named}`,
        '.ethos/ethos.config.mjs': config,
        'tools/look.mjs': text,
      });
      onTestFinished(home.remove);
      return home;
    };
    const locked = homeWith(tool(`'a.example.com'`));
    expect((await locked.run(['lock'])).code).toBe(0);
    const check = (text: string) => {
      const home = homeWith(text);
      cpSync(join(locked.home, 'reach.lock'), join(home.home, 'reach.lock'));
      return home.run(['lock', '--check']);
    };
    const wider = tool(`'a.example.com', 'b.example.com'`);
    const { code, out } = await check(wider);
    expect([code, out]).toEqual([1, expect.stringContaining('tools/look.mjs:3')]);
    expect(out).toContain('declared in network.allowedHosts of the tool at tools/look.mjs:3');
    // If a name stands in two places, it is not known which one is right.
    expect((await check(`// name: 'look'${wider}`)).out).not.toContain('look.mjs');
  });

  it('takes a lock with the line ends of Windows', async () => {
    await world.run(['lock']);
    writeFileSync(join(world.home, 'reach.lock'), lockText().replaceAll('\n', '\r\n'));
    expect((await world.run(['lock', '--check'])).code).toBe(0);
  });

  it('follows no link', async () => {
    await world.run(['lock']);
    writeFileSync(join(world.cwd, 'there.lock'), lockText());
    rmSync(join(world.home, 'reach.lock'));
    symlinkSync(join(world.cwd, 'there.lock'), join(world.home, 'reach.lock'));
    expect((await world.run(['lock', '--check'])).code).toBe(2);
    expect((await world.run(['lock'])).code).toBe(2);
  });

  it('can write the lock anew where the runtime is held to it', async () => {
    world.write('.ethos/ethos.config.mjs', 'export default { lock: true };\n');
    await world.run(['lock']);
    world.write(FILE, CODER.replace('write_file]', 'write_file, search_files]'));
    expect((await world.run(['reach'])).err).toContain('review it with "ethosagent lock --check"');
    expect((await world.run(['lock', '--check'])).code).toBe(1);
    expect((await world.run(['lock'])).code).toBe(0);
    expect((await world.run(['reach'])).code).toBe(0);
  });
});
