import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningScript, startScript } from '@ethosagent/conformance/attacks';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { errorCodeOf, type MemoryChange } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMarkdownMemory } from './markdown-memory.js';
import { memoryFileName } from './memory-paths.js';

const fixture = await bundleScript(new URL('./fixtures/add-to-memory.ts', import.meta.url));
const add = (section: string, text: string): MemoryChange => ({ kind: 'add', section, text });
const codeOf = (call: Promise<unknown>) => call.then(() => 'done', errorCodeOf);

const scripts: RunningScript[] = [];

/** A process that adds to a memory. If a test leaves it running, it is ended afterwards. */
function startAdding(folder: string, id: string, turns: number): RunningScript {
  const script = startScript(fixture, { args: [folder, id, `${turns}`] });
  scripts.push(script);
  return script;
}

let base: string;
let dir: string;
let file: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'markdown-memory-'));
  dir = join(base, 'memory');
  file = join(dir, 'global.md');
});
afterEach(async () => {
  for (const { child, ended } of scripts.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(base, { recursive: true });
});

function withFile(content: string | Uint8Array): void {
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, content);
}

describe('createMarkdownMemory keeps', () => {
  it('a new memory for its owner alone, with no leftovers', async () => {
    const memory = createMarkdownMemory({ dir });
    await memory.change('global', add('A', 'x'));
    expect(readFileSync(file, 'utf8')).toBe('## A\n\nx\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir).sort()).toEqual(['global.md', 'global.md.versions']);
  });

  it('what a person wrote, and its mode', async () => {
    const mine = '---\r\nk: v\r\n---\r\n# Notes\r\n\r\n##  A  ##\r\n*  x  \r\n\r\n\r\n## B\ny';
    withFile(mine);
    const memory = createMarkdownMemory({ dir });
    await memory.change('global', add('C', 'z'));
    expect(readFileSync(file, 'utf8')).toBe(`${mine}\r\n\r\n## C\r\n\r\nz\r\n`);
    expect(statSync(file).mode & 0o777).toBe(0o644 & ~process.umask());
    expect((await memory.versions('global'))[0]?.sections.at(-1)).toEqual({
      heading: 'B',
      text: 'y',
    });
  });

  it('an edit from outside between a reading and a change', async () => {
    withFile('## A\n\nmine\n');
    const memory = createMarkdownMemory({ dir });
    const { revision } = await memory.read('global');
    writeFileSync(file, '## A\n\nmine and yours\n');
    const change = add('A', 'more');
    expect(await codeOf(memory.change('global', change, { expectedRevision: revision }))).toBe(
      'MEMORY_CHANGED',
    );
    await memory.change('global', change);
    expect(readFileSync(file, 'utf8')).toBe('## A\n\nmine and yours\n\nmore\n');
  });

  it('edits from outside while it changes', async () => {
    withFile('## Log\n');
    const memory = createMarkdownMemory({ dir });
    const changes = Promise.all(
      Array.from({ length: 20 }, (_, i) => memory.change('global', add('Log', `tool ${i}.`))),
    );
    let isDone = false;
    changes.then(() => {
      isDone = true;
    });
    let edits = 0;
    while (!isDone && edits < 50) {
      // Read and written without a pause, like an editor that saves at once.
      writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd()}\n\nperson ${edits}.\n`);
      edits += 1;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    await changes;
    const text = readFileSync(file, 'utf8');
    for (let i = 0; i < 20; i += 1) expect(text).toContain(`tool ${i}.`);
    for (let i = 0; i < edits; i += 1) expect(text).toContain(`person ${i}.`);
  });

  it('the latest versions only, each in a file', async () => {
    const memory = createMarkdownMemory({ dir, maxVersions: 3, clock: () => 5_000 });
    for (let i = 0; i < 6; i += 1) await memory.change('global', add('A', `${i}`));
    expect(readdirSync(`${file}.versions`)).toHaveLength(3);
    const versions = await memory.versions('global');
    expect(versions.map(({ sections }) => sections[0]?.text.at(-1))).toEqual(['4', '3', '2']);
    expect(versions.map(({ replacedAt }) => replacedAt)).toEqual([5_005, 5_004, 5_003]);
  });

  it('memories where `fileOf` says', async () => {
    const memory = createMarkdownMemory({
      fileOf: (id) => join(dir, id.replace(':', '/'), 'M.md'),
    });
    await memory.change('personality:x', add('A', 'y'));
    expect(readFileSync(join(dir, 'personality', 'x', 'M.md'), 'utf8')).toBe('## A\n\ny\n');
  });
});

describe('createMarkdownMemory in several processes', () => {
  it('loses nothing', async () => {
    const turns = isLongRun() ? 12 : 6;
    const adding = ['a', 'b', 'c']
      .slice(isLongRun() ? 0 : 1)
      .map((id) => startAdding(dir, id, turns));
    for (const { ended } of adding) expect(await ended).toMatchObject({ code: 0 });
    const [log] = (await createMarkdownMemory({ dir }).read('global')).sections;
    const entries = adding.flatMap((script) => script.lines());
    expect(entries).toHaveLength(adding.length * turns);
    expect(log?.text.split('\n\n').sort()).toEqual(entries.sort());
  });

  it('keeps what was acknowledged by a process that was killed, and goes on after it', async () => {
    for (let round = 0; round < (isLongRun() ? 3 : 1); round += 1) {
      const script = startAdding(dir, `r${round}`, 100_000);
      while (script.lines().length < 5 && script.child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 5));
      script.child.kill('SIGKILL');
      await script.ended;
      const memory = createMarkdownMemory({ dir, lockWaitMs: 5_000 });
      await memory.change('global', add('Log', `after ${round}.`));
      const text = readFileSync(file, 'utf8');
      for (const entry of script.lines()) expect(text).toContain(entry);
      expect(readdirSync(dir).filter((name) => name.includes('.lock'))).toEqual([]);
    }
  });

  it('waits for a lock that nothing can be told of no longer than it may, and leaves it', async () => {
    mkdirSync(dir);
    const foreign = `${file}.lock.another-boot.1.1.1.abc.another-machine`;
    writeFileSync(foreign, 'held');
    utimesSync(foreign, 0, 0);
    const memory = createMarkdownMemory({ dir, lockWaitMs: 50 });
    expect(await codeOf(memory.change('global', add('A', 'x')))).toBe('STORE_UNAVAILABLE');
    expect(readFileSync(foreign, 'utf8')).toBe('held');
    expect(await memory.read('global')).toMatchObject({ sections: [] });
  });
});

describe('createMarkdownMemory refuses', () => {
  const changing = (options = {}) =>
    codeOf(createMarkdownMemory({ dir, ...options }).change('global', add('A', 'x')));
  const reading = () => codeOf(createMarkdownMemory({ dir }).read('global'));

  it('a file that a link out of its folder leads to', async () => {
    mkdirSync(dir);
    const outside = join(base, 'outside.md');
    writeFileSync(outside, 'secret');
    symlinkSync(outside, file);
    expect([await reading(), await changing()]).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);
    expect(readFileSync(outside, 'utf8')).toBe('secret');
    expect(readdirSync(base).sort()).toEqual(['memory', 'outside.md']);
  });

  it('a folder, and a file that is not UTF-8', async () => {
    mkdirSync(file, { recursive: true });
    expect([await reading(), await changing()]).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);
    rmSync(file, { recursive: true });
    withFile(Uint8Array.of(0x61, 0xff));
    expect([await reading(), await changing()]).toEqual(['done', 'STORE_UNAVAILABLE']);
    expect([...readFileSync(file)]).toEqual([0x61, 0xff]);
  });

  it('a file far over the cap, and lets one that is a little over it shrink', async () => {
    withFile('x'.repeat(100_000 + 8 * 1_000 + 1));
    const options = { maxDocumentChars: 1_000, maxSectionChars: 1_000 };
    expect(await changing(options)).toBe('MEMORY_TOO_LARGE');
    withFile(`## A\n${'x'.repeat(3_000)}\n## B\nshort`);
    expect(await changing(options)).toBe('MEMORY_TOO_LARGE');
    const memory = createMarkdownMemory({ dir, ...options });
    await memory.change('global', { kind: 'remove', section: 'B' });
    expect((await memory.read('global')).sizeChars).toBe(3_001);
  });

  it.each<[string, object]>([
    ['neither dir nor fileOf', {}],
    ['both', { dir: '/x', fileOf: () => '/x' }],
    ['a relative dir', { dir: 'x' }],
    ['no versions', { dir: '/x', maxVersions: 0 }],
    ['half a character', { dir: '/x', maxSectionChars: 0.5 }],
  ])('%s with CONFIG_INVALID', (_, options) => {
    expect(() => createMarkdownMemory(options)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });
});

describe('memoryFileName', () => {
  it.each([
    ['global', 'global.md'],
    ['personality:researcher', 'personality-researcher.md'],
    ['user:42', 'user-42.md'],
    ['team:a_b-c', 'team-a_b-c.md'],
  ])('of %j is %j', (id, name) => expect(memoryFileName(id)).toBe(name));

  it.each(['Global', 'personality:../x', 'a/b', '', 'con', '\0', 'é', 'x'.repeat(10_000), 'team:'])(
    'of %j is a plain name of its own',
    (id) => expect(memoryFileName(id)).toMatch(/^id-[a-z0-9-]{0,40}\.[0-9a-f]{32}\.md$/),
  );
});
