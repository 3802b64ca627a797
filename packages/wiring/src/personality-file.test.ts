import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { EthosError } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadPersonality, personalityConfigPath } from './personality-file.js';

let home: string;
let file: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'personality-'));
  file = personalityConfigPath(home, 'coder');
  mkdirSync(join(home, 'personalities', 'coder'), { recursive: true });
});
afterAll(() => rmSync(home, { recursive: true }));

function load(content: string | Uint8Array, id = 'coder') {
  writeFileSync(file, content);
  return loadPersonality({ home, id, cwd: '/home/x/repo' });
}

/** The message without its code, and with `FILE` instead of the path. */
async function refusal(loading: Promise<unknown>): Promise<string> {
  const error: unknown = await loading.then(
    () => expect.fail('it was accepted'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EthosError);
  expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
  const { message } = error as EthosError;
  return message.replace('CONFIG_INVALID: ', '').replaceAll(file, 'FILE');
}

const personalityPath = (own: string, id: string) => join(own, 'personalities', id, 'config.yaml');
const lines = (...texts: string[]) => texts.join('\n');

describe('loadPersonality', () => {
  it('reads every key', async () => {
    const config = await load(`
name: Coder
description: Writes code.
toolset: [read_file, terminal]
fs_reach:
  read:
    - \${CWD}
    - \${self}/notes
    - \${ETHOS_HOME}/shared/
    - /usr/share/dict
  write: ["\${CWD}/src"]
safety:
  network:
    allow: [api.github.com, "*.openai.com"]
    deny: ["*.evil.com"]
    allow_private_urls: false
  process:
    sandbox: required
    limits: {memory_mb: 512, processes: 64, cpu_seconds: 60, file_size_mb: 100, open_files: 256}
    arguments:
      git: {deny: ["-c", "--upload-pack"]}
      ls: {allow: ["-l*", "/*"]}
  quotas:
    per_call: {requests: 3, bytes_in: 1000, bytes_out: 0}
    per_session: {process_seconds: 1.5, files_written: 10, store_bytes: 4096}
mcp_servers: [linear]
plugins: [weather]
`);
    expect(config).toEqual({
      id: 'coder',
      name: 'Coder',
      description: 'Writes code.',
      toolset: ['read_file', 'terminal'],
      fs_reach: {
        read: [
          '/home/x/repo',
          `${home}/personalities/coder/notes`,
          `${home}/shared`,
          '/usr/share/dict',
        ],
        write: ['/home/x/repo/src'],
      },
      safety: {
        network: {
          allow: ['api.github.com', '*.openai.com'],
          deny: ['*.evil.com'],
          allow_private_urls: false,
        },
        process: {
          sandbox: 'required',
          limits: {
            memory_mb: 512,
            processes: 64,
            cpu_seconds: 60,
            file_size_mb: 100,
            open_files: 256,
          },
          arguments: {
            git: { deny: ['-c', '--upload-pack'] },
            ls: { allow: ['-l*', '/*'] },
          },
        },
        quotas: {
          per_call: { requests: 3, bytes_in: 1000, bytes_out: 0 },
          per_session: { process_seconds: 1.5, files_written: 10, store_bytes: 4096 },
        },
      },
      mcp_servers: ['linear'],
      plugins: ['weather'],
    });
  });

  it('keeps an absent list apart from an empty one', async () => {
    const absent = await load('name: a\nsafety: {network: {}}\nfs_reach: {}\n');
    expect(absent).toStrictEqual({ id: 'coder', name: 'a', safety: { network: {} }, fs_reach: {} });
    const empty = await load(
      'name: a\ntoolset: []\nsafety: {network: {allow: []}}\nfs_reach: {read: []}\n',
    );
    expect(empty).toStrictEqual({
      id: 'coder',
      name: 'a',
      toolset: [],
      safety: { network: { allow: [] } },
      fs_reach: { read: [] },
    });
  });

  it('freezes the config at every level', async () => {
    const config = await load('name: a\nsafety: {network: {allow: []}}\n');
    expect(() => config.safety?.network?.allow?.push('*')).toThrow(TypeError);
    expect(() => Object.assign(config, { safety: {} })).toThrow(TypeError);
  });

  it.each([
    ['a byte order mark', '\ufeffname: a\n'],
    ['CRLF line ends', 'name: a\r\n'],
    ['a comment and a document marker', '# c\n---\nname: a\n'],
  ])('accepts %s', async (_, content) => {
    expect(await load(content)).toEqual({ id: 'coder', name: 'a' });
  });

  const tooMany = `name: a\n${Array.from({ length: 120 }, (_, i) => `k${i}: 1`).join('\n')}`;

  it.each<[string, string, string]>([
    // Keys.
    [
      'a misspelt key',
      'name: a\n\nfs_raech:\n  read: []\n',
      'FILE:3:1: unknown key "fs_raech"; did you mean "fs_reach"?',
    ],
    [
      'a misspelt nested key',
      'name: a\nsafety:\n  network:\n    alow: []\n',
      'FILE:4:5: unknown key "alow" in safety.network; did you mean "allow"?',
    ],
    [
      'an unknown key',
      'name: a\nfs_reach: { execute: [] }\n',
      'FILE:2:13: unknown key "execute" in fs_reach; the keys here are read, write',
    ],
    [
      'an unknown key of safety',
      'name: a\nsafety: { networks: {} }\n',
      'FILE:2:11: unknown key "networks" in safety; did you mean "network"?',
    ],
    ['an id, which the folder gives', 'name: a\nid: b\n', 'FILE:2:1: unknown key "id"; the keys'],
    ['a key in another case', 'Name: a\n', 'FILE:1:1: unknown key "Name"; did you mean "name"?'],
    ['__proto__', 'name: a\n__proto__: {plugins: [x]}\n', 'FILE:2:1: unknown key "__proto__"'],
    [
      '__proto__ below a key',
      'name: a\nsafety: {__proto__: {network: {}}}\n',
      'FILE:2:10: unknown key "__proto__" in safety',
    ],
    ['constructor', 'name: a\nconstructor: 1\n', 'FILE:2:1: unknown key "constructor"'],
    ['a missing name', 'description: a\n', 'FILE:1:1: name: expected text, found nothing'],
    ['a repeated key', 'name: a\nname: b\n', 'FILE:2:1: key "name" is given twice'],
    [
      'a misspelt key of a binary',
      'name: a\nsafety: {process: {arguments: {git: {denny: []}}}}\n',
      'FILE:2:38: unknown key "denny" in safety.process.arguments.git; did you mean "deny"?',
    ],
    [
      'a sandbox that is not one of the words',
      'name: a\nsafety: {process: {sandbox: always}}\n',
      'FILE:2:29: safety.process.sandbox: expected one of true, false, required, preferred, found text',
    ],
    [
      'a truth value of older YAML',
      'name: a\nsafety: {process: {sandbox: Yes}, network: {allow_private_urls: off}}\n',
      'FILE:2:29: safety.process.sandbox: expected one of true, false, required, preferred, found text; write true\nFILE:2:65: safety.network.allow_private_urls: expected true or false, found text; write false',
    ],
    [
      'a limit in words',
      'name: a\nsafety: {process: {limits: {memory_mb: lots}}}\n',
      'FILE:2:40: safety.process.limits.memory_mb: expected a number, found text',
    ],
    [
      'a limit of nothing',
      'name: a\nsafety: {process: {limits: {processes: 0}}}\n',
      'FILE:2:40: safety.process.limits.processes: expected a number from 1, found the number 0',
    ],
    [
      'half a request',
      'name: a\nsafety: {quotas: {per_call: {requests: 0.5}}}\n',
      'FILE:2:40: safety.quotas.per_call.requests: expected a whole number, found the number 0.5',
    ],
    [
      'a quota below nothing',
      'name: a\nsafety: {quotas: {per_session: {bytes_in: -1}}}\n',
      'FILE:2:43: safety.quotas.per_session.bytes_in: expected a number from 0, found the number -1',
    ],
    [
      'a quota without end',
      'name: a\nsafety: {quotas: {per_session: {process_seconds: .inf}}}\n',
      'FILE:2:50: safety.quotas.per_session.process_seconds: expected a number, found the number Infinity',
    ],
    [
      'a misspelt quota',
      'name: a\nsafety: {quotas: {per_cal: {}}}\n',
      'FILE:2:19: unknown key "per_cal" in safety.quotas; did you mean "per_call"?',
    ],
    [
      'a repeated nested key',
      'name: a\nfs_reach:\n  read: []\n  read: [/]\n',
      'FILE:4:3: key "read" is given twice',
    ],
    ['a merge key', 'name: a\n<<: {plugins: [x]}\n', 'FILE:2:1: unknown key "<<"'],
    [
      'a merge key under YAML 1.1',
      '%YAML 1.1\n---\nname: a\n<<: {plugins: [x]}\n',
      'FILE:4:1: unknown key "<<"',
    ],
    // Types.
    ['a number as a name', 'name: 7\n', 'FILE:1:7: name: expected text, found the number 7'],
    ['an empty name', 'name: "  "\n', 'FILE:1:7: name: must not be empty'],
    ['a name without a value', 'name:\n', 'FILE:1:6: name: expected text, found nothing'],
    [
      'text for a list',
      'name: a\ntoolset: read_file\n',
      'FILE:2:10: toolset: expected a list, found text',
    ],
    [
      'a mapping for a list',
      'name: a\nplugins: {weather: true}\n',
      'FILE:2:10: plugins: expected a list, found a mapping',
    ],
    [
      'a list for a mapping',
      'name: a\nfs_reach: [/data]\n',
      'FILE:2:11: fs_reach: expected a mapping, found a list',
    ],
    [
      'a number in a list',
      'name: a\nmcp_servers:\n  - a\n  - 5\n',
      'FILE:4:5: mcp_servers[1]: expected text, found the number 5',
    ],
    [
      'empty text in a list',
      'name: a\ntoolset: [""]\n',
      'FILE:2:11: toolset[0]: must not be empty',
    ],
    [
      'nothing in a list',
      'name: a\nfs_reach:\n  read:\n    -\n',
      'fs_reach.read[0]: expected text, found nothing',
    ],
    [
      'yes for a truth value, which YAML 1.2 reads as text',
      'name: a\nsafety: {network: {allow_private_urls: yes}}\n',
      'FILE:2:40: safety.network.allow_private_urls: expected true or false, found text',
    ],
    [
      'yes under YAML 1.1',
      '%YAML 1.1\n---\nname: a\nsafety: {network: {allow_private_urls: yes}}\n',
      'FILE:4:40: safety.network.allow_private_urls: expected true or false, found text',
    ],
    ...['toolset', 'mcp_servers', 'plugins', 'fs_reach', 'safety', 'description'].map(
      (key): [string, string, string] => [
        `nothing for ${key}`,
        `name: a\n${key}:\n`,
        `${key}: expected ${key === 'description' ? 'text' : key.match(/^(fs|safe)/) ? 'a mapping' : 'a list'}, found nothing`,
      ],
    ),
    [
      'nothing for allow, which is not the same as no allow',
      'name: a\nsafety:\n  network:\n    allow:\n    deny: []\n',
      'FILE:4:11: safety.network.allow: expected a list, found nothing',
    ],
    [
      'nothing for network',
      'name: a\nsafety:\n  network: ~\n',
      'FILE:3:12: safety.network: expected a mapping, found nothing',
    ],
    // Paths.
    [
      'an unknown variable',
      'name: a\nfs_reach:\n  read:\n    - ${HOME}/x\n',
      'FILE:4:7: fs_reach.read[0]: unknown variable',
    ],
    [
      'a relative path',
      'name: a\nfs_reach:\n  write: [/ok, data]\n',
      'FILE:3:16: fs_reach.write[1]: must be absolute',
    ],
    ['an empty path', 'name: a\nfs_reach: {read: [""]}\n', 'fs_reach.read[0]: must not be empty'],
    [
      'a path with ..',
      'name: a\nfs_reach: {read: [/data/../etc]}\n',
      'FILE:2:19: fs_reach.read[0]: must not have ".." segments',
    ],
    // Hosts.
    [
      'a URL as a host',
      'name: a\nsafety:\n  network:\n    allow:\n      - ok.com\n      - https://x.com/\n',
      'FILE:6:9: safety.network.allow[1]: not a host pattern',
    ],
    [
      'a host with a path in deny',
      'name: a\nsafety: {network: {deny: [evil.com/x]}}\n',
      'FILE:2:27: safety.network.deny[0]: not a host pattern',
    ],
    [
      'an empty host',
      'name: a\nsafety: {network: {deny: [""]}}\n',
      'safety.network.deny[0]: not a',
    ],
    // Secrets.
    [
      'a secret that leaves its folder',
      'name: a\nsafety:\n  secrets:\n    search/key: ../other/key\n',
      'FILE:4:17: safety.secrets.search/key: not a secret ref',
    ],
    [
      'a prefix instead of a secret',
      'name: a\nsafety: {secrets: {search/key: other/*}}\n',
      'safety.secrets.search/key: not a secret ref',
    ],
    [
      'a prefix that others are to stand behind',
      'name: a\nsafety: {secrets: {search/*: other/key}}\n',
      'safety.secrets.search/*',
    ],
    ['a secret that is nothing', 'name: a\nsafety: {secrets: {k: }}\n', 'safety.secrets.k'],
    ['a secret that is given', 'name: a\nsafety: {secrets: {k: true}}\n', 'safety.secrets.k'],
    // YAML.
    ['an empty file', '', 'FILE:1:1: the file must be a mapping'],
    ['a comment only', '# nothing\n', 'FILE:1:1: the file must be a mapping'],
    ['a list', '- name: a\n', 'FILE:1:1: the file must be a mapping'],
    ['plain text', 'coder\n', 'FILE:1:1: the file must be a mapping'],
    ['two documents', 'name: a\n---\nname: b\n', 'FILE:2:1: a second document'],
    ['a tab as indentation', 'name: a\nsafety:\n\tnetwork: {}\n', 'FILE:3:1: not valid YAML: Tabs'],
    ['an unclosed list', 'name: a\nplugins: [b\n', 'FILE:2:12: '],
    ['a tag', 'name: !!str 7\n', 'FILE:1:13: tags are not supported'],
    ['an unknown tag', 'name: !secret x\n', 'tags are not supported'],
    ['a tag on a mapping', 'name: a\nfs_reach: !!map {}\n', 'tags are not supported'],
    ['an anchor', 'name: &n a\n', 'FILE:1:10: anchors are not supported'],
    ['an anchor on a mapping', 'name: a\nfs_reach: &r {}\n', 'anchors are not supported'],
    [
      'an alias',
      'name: a\nfs_reach:\n  read: &r [/a]\n  write: *r\n',
      'FILE:4:10: aliases are not supported',
    ],
    [
      'an unquoted wildcard, which is an alias to YAML',
      'name: a\nsafety:\n  network:\n    allow: [*.a.com]\n',
      'FILE:4:13: aliases are not supported; quote text that starts with "*"',
    ],
    [
      'an alias bomb',
      `a0: &a0 [x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
      'aliases are not supported',
    ],
    ['a list as a key', 'name: a\n? [b]\n: c\n', 'FILE:2:3: '],
    ['brackets, 200,000 deep', `name: ${'['.repeat(200_000)}`, 'FILE:1:38: nested too deeply'],
    ['mappings, 60,000 deep', `name: a\nsafety: ${'{a: '.repeat(60_000)}`, 'nested too deeply'],
    ['dashes, 100,000 deep', `name: a\nx:\n  ${'- '.repeat(100_000)}`, 'FILE:3:'],
    ['more than 100 problems', tooMany, 'FILE: and more'],
    ['a key with a line break', 'name: a\n"b\\nc": 1\n', 'unknown key "b\\nc"'],
  ])('refuses %s', async (_, content, message) => {
    expect(await refusal(load(content))).toContain(message);
  });

  it('reports every problem, in the order of the file', async () => {
    const content = lines('nam: a', 'toolset: b', 'fs_reach:', '  read: [c]', 'safety: {x: 1}');
    const report = await refusal(load(content));
    expect(report.split('\n').map((line) => line.split(' ', 1)[0])).toEqual([
      'FILE:1:1:',
      'FILE:1:1:',
      'FILE:2:10:',
      'FILE:4:10:',
      'FILE:5:10:',
    ]);
  });

  it.each<[string, string, string[]]>([
    [
      'an open list, and what is wrong below it',
      lines('nam: a', 'toolset: [read_file', 'fs_reach:', '  read: [c]', 'safty: {x: 1}'),
      ['2:20', '1:1', '4:10', '5:1'],
    ],
    [
      'an open quote, and what is wrong around it',
      lines('name: 5', 'description: "x', 'plugins: 7', 'safety: {process: {sandbox: maybe}}'),
      ['2:16', '1:7', '3:10', '4:29'],
    ],
    [
      'an alias, a tag, an anchor and a repeated key, and others',
      lines(
        'name: *a',
        'toolset: !!seq [a]',
        'fs_reach: &x {read: [c]}',
        'plugins: 7',
        'plugins: [7]',
      ),
      ['1:7', '2:16', '3:14', '3:22', '5:1', '5:11'],
    ],
    [
      'two of syntax within one key, and one above them',
      lines('name: a', 'safety:', '  network: {alow: []}', '  process: ]', '  quotas: }', 'x: 1'),
      ['4:12', '5:3', '5:9', '5:11', '3:13', '6:1'],
    ],
    [
      'a second document, and what is wrong in the first',
      lines('name: a', 'plugins: 7', '---', 'name: b'),
      ['2:10', '3:1'],
    ],
    ['bad indentation', lines('name: a', '  toolset: [x]', 'plugins: 7'), ['1:7', '3:10']],
    [
      'a key given twice, of which one has a mistake of syntax',
      lines('name: a', 'plugins: [', 'toolset: []', 'plugins: []'),
      ['2:11', '4:1'],
    ],
  ])('reports %s, at once', async (_, content, places) => {
    const report = await refusal(load(content));
    const told = report.split('\n').map((line) => /^FILE:(\d+:\d+): ./.exec(line)?.[1]);
    expect([report, ...new Set(told)]).toEqual([report, ...new Set(places)]);
  });

  it('says nothing of a value that ends where the syntax breaks', async () => {
    expect(await refusal(load(lines('name: a', 'safety:', '\tnetwork: {}')))).toBe(
      'FILE:3:1: not valid YAML: Tabs are not allowed as indentation',
    );
  });

  it.each([
    [
      'a key in a list that does not end',
      lines('name: a', 'toolset: [a', '  plugins: 7'),
      'plugins',
    ],
    ['a text that does not end', lines('name: a', 'fs_reach: {read: ["a'), 'must be absolute'],
    ['a name that may stand where nothing can be read', lines('toolset: [', '"name'), 'name:'],
  ])('guesses nothing of %s', async (_, content, absent) => {
    expect(await refusal(load(content))).not.toContain(absent);
  });

  it.each([
    [
      'bytes that are not UTF-8',
      Uint8Array.of(0x6e, 0xff),
      'FILE: is not UTF-8 text; save it as UTF-8',
    ],
    [
      'more than 256 KB',
      `name: a\n${'#'.repeat(256 * 1024)}`,
      'FILE: is larger than 256 KB; make it shorter',
    ],
  ])('refuses %s', async (_, content, message) => {
    expect(await refusal(load(content))).toBe(message);
  });

  const many = (count: number) => (isLongRun() ? count : count / 40);
  const keys = Array.from({ length: many(36_000) }, (_, i) => i.toString(36));
  it.each([
    ['very many unknown keys', `{${keys.map((key) => `k${key}`)}}`, 'FILE: and more'],
    ['very many repeated keys', `{${'a,'.repeat(many(130_000))}}`, 'FILE: and more'],
    [
      'very many bad paths',
      `{name: a, fs_reach: {read: [${'a,'.repeat(many(120_000))}]}}`,
      'FILE: and more',
    ],
  ])('refuses %s', async (_, content, message) => {
    expect(await refusal(load(content))).toContain(message);
  });

  it.each([
    '',
    '.',
    '..',
    '../coder',
    'coder/../coder',
    'coder/',
    '/coder',
    'a\\b',
    'Coder',
    '-coder',
    '_coder',
    'co der',
    'coder\n',
    'coder\0',
    'cödér',
    '__proto__',
    'a'.repeat(65),
  ])('refuses the id %j', async (id) => {
    expect(await refusal(load('name: a\n', id))).toContain('personality id: must be');
  });

  it('names the file of a personality that does not exist, and those that do', async () => {
    const own = mkdtempSync(join(tmpdir(), 'personality-ids-'));
    onTestFinished(() => rmSync(own, { recursive: true }));
    const told = (id: string) => refusal(loadPersonality({ home: own, id }));
    const missing = (id: string) => `${own}/personalities/${id}/config.yaml: there is no such file`;
    expect(await told('coder')).toBe(
      `${missing('coder')}; this home has no personality yet, so write that file, or make a home with "ethosagent init"`,
    );
    for (const id of ['coder', 'writer', 'Not-One', 'empty']) {
      mkdirSync(join(own, 'personalities', id), { recursive: true });
      if (id !== 'empty') writeFileSync(personalityPath(own, id), 'nonsense: [');
    }
    expect(await told('nobody')).toBe(
      `${missing('nobody')}; the personalities of this home: coder, writer`,
    );
    expect(await told('codr')).toBe(
      `${missing('codr')}; did you mean "coder"? The personalities of this home: coder, writer`,
    );
    expect(await told('Coder')).toMatch(
      /^personality id: must be .* did you mean "coder"\? The personalities/,
    );
  });

  it('does not say that there are no personalities where they can not be listed', async () => {
    const own = mkdtempSync(join(tmpdir(), 'personality-ids-'));
    onTestFinished(() => rmSync(own, { recursive: true }));
    writeFileSync(join(own, 'personalities'), '');
    const told = await refusal(loadPersonality({ home: own, id: 'Coder' }));
    expect(told).toMatch(/; .*personalities can not be listed; make it a readable folder$/);
  });

  it('does not ask for a file of an id that none can have', async () => {
    const own = mkdtempSync(join(tmpdir(), 'personality-ids-'));
    onTestFinished(() => rmSync(own, { recursive: true }));
    const told = await refusal(loadPersonality({ home: own, id: 'Coder' }));
    expect(told).toMatch(/letter or digit; this home has no personality yet$/);
  });

  it('tells some of very many personalities', async () => {
    const own = mkdtempSync(join(tmpdir(), 'personality-ids-'));
    onTestFinished(() => rmSync(own, { recursive: true }));
    for (let at = 0; at < 60; at += 1) {
      mkdirSync(join(own, 'personalities', `p${at}`), { recursive: true });
      writeFileSync(personalityPath(own, `p${at}`), 'name: x\n');
    }
    const message = await refusal(loadPersonality({ home: own, id: 'nobody' }));
    expect(message).toMatch(/the personalities of this home: p0, p1, .*, … \(60 in all\)$/);
    expect(message.length).toBeLessThan(500);
  });

  it.each(['', 'relative', '.'])('refuses the home %j', async (relative) => {
    const loading = loadPersonality({ home: relative, id: 'coder' });
    expect(await refusal(loading)).toContain('home: must be an absolute path');
  });

  it('refuses ${CWD} when there is no working directory', async () => {
    writeFileSync(file, 'name: a\nfs_reach: {read: ["${CWD}/etc"]}\n');
    expect(await refusal(loadPersonality({ home, id: 'coder' }))).toContain('no absolute path');
  });

  it.each([
    ['a directory', (path: string) => mkdirSync(path), 'is not a regular file'],
    ['a FIFO', (path: string) => execFileSync('mkfifo', [path]), 'is not a regular file'],
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path), 'is not a regular'],
    ['a link to itself', (path: string) => symlinkSync(path, path), 'can not be opened'],
    ['a dangling link', (path: string) => symlinkSync('/nowhere', path), 'there is no such file'],
  ])('refuses %s', async (what, create, message) => {
    const id = what.replaceAll(' ', '-').toLowerCase();
    const path = personalityConfigPath(home, id);
    mkdirSync(join(home, 'personalities', id));
    create(path);
    expect(await refusal(loadPersonality({ home, id }))).toContain(`${path}: ${message}`);
  });

  it('follows a link to a regular file', async () => {
    mkdirSync(join(home, 'personalities', 'linked'));
    writeFileSync(file, 'name: a\nfs_reach: {read: ["${self}"]}\n');
    symlinkSync(file, personalityConfigPath(home, 'linked'));
    expect(await loadPersonality({ home, id: 'linked' })).toEqual({
      id: 'linked',
      name: 'a',
      fs_reach: { read: [`${home}/personalities/linked`] },
    });
  });
});
