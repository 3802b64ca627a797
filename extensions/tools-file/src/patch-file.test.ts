import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestContext, errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { tries } from '@ethosagent/test-support';
import iconv from 'iconv-lite';
import { assert, describe, expect, it } from 'vitest';
import { type Call, createFileWorld } from './fixtures/file-world.js';
import { patchFileTool } from './patch-file.js';
import { readFileTool } from './read-file.js';
import { writeFileTool } from './write-file.js';

describe('a file of more lines than the memory has room for', () => {
  it('is not patched, and its difference is not shown', async () => {
    const world = createFileWorld();
    const lines = `a${'\n'.repeat(2_600_000)}`;
    world.put('a.txt', lines);
    const hunks = [{ search: 'a', replace: 'b' }];
    expect(errorOf(await world.run('patch_file', { path: 'a.txt', hunks }))).toMatch(
      /^a\.txt has 2600000 lines, and only files of up to 1000000 lines can be patched\./,
    );
    expect(world.get('a.txt') === lines).toBe(true);
    const args = { path: 'a.txt', content: 'b\n' };
    const dry = await world.run('write_file', args, { dryRun: true });
    expect(textOf(dry)).toBe(
      '[dry-run] a.txt would be replaced: 1 line, 2 bytes.\n[the versions have too many lines to show a diff]',
    );
    expect(dry).toMatchObject({ structured: { added: 1, removed: 2_600_000 } });
  });
});

describe('patch_file', () => {
  it('applies hunks, and shows the difference', async () => {
    const world = createFileWorld();
    world.put('src/a.ts', 'const a = 1;\nconst b = 2;\n');
    const result = await world.run('patch_file', {
      path: 'src/a.ts',
      hunks: [
        { search: 'a = 1', replace: 'a = $1' },
        { search: '  const b = 2;', replace: '  const b = 3;\n  const c = 4;' },
      ],
    });
    expect(world.get('src/a.ts')).toBe('const a = $1;\nconst b = 3;\nconst c = 4;\n');
    expect(textOf(result)).toBe(
      [
        'Patched src/a.ts: 2 hunks, +3 -2 (hunk 2 matched except for indentation).',
        '--- src/a.ts',
        '+++ src/a.ts',
        '@@ -1,2 +1,3 @@',
        '-const a = 1;',
        '-const b = 2;',
        '+const a = $1;',
        '+const b = 3;',
        '+const c = 4;',
        '',
      ].join('\n'),
    );
    expect(result).toMatchObject({ structured: { hunks: 2, added: 3, removed: 2 } });
  });

  const kept: [encoding: string, bytes: Buffer, after: Buffer][] = [
    [
      'utf-8 with a byte order mark',
      Buffer.from('\ufeffé a\r\n'),
      Buffer.from('\ufeffé b\r\nc\r\n'),
    ],
    [
      'utf-16le',
      iconv.encode('é a\r\n', 'utf-16le', { addBOM: true }),
      iconv.encode('é b\r\nc\r\n', 'utf-16le', { addBOM: true }),
    ],
    ['windows-1252', iconv.encode('é a\n', 'latin1'), iconv.encode('é b\nc\n', 'latin1')],
    ['no final newline', Buffer.from('é\na'), Buffer.from('é\nb\nc')],
  ];
  it.each(kept)('keeps %s', async (_what, before, after) => {
    const world = createFileWorld();
    world.put('a.txt', before);
    textOf(
      await world.run('patch_file', { path: 'a.txt', hunks: [{ search: 'a', replace: 'b\nc' }] }),
    );
    expect(world.bytes('a.txt')).toEqual(after);
  });

  const refusals: [what: string, before: string | Buffer, hunks: object[], error: RegExp][] = [
    [
      'when the second hunk is not found',
      'one\ntwo\n',
      [
        { search: 'one', replace: 'x' },
        { search: 'nothing like it', replace: 'y' },
      ],
      /^Hunk 2 of 2 does not apply to a\.txt, so nothing was changed: its search text is not in the file/,
    ],
    [
      'an ambiguous text, with the lines',
      'x\ny\nx\n',
      [{ search: 'x', replace: 'z' }],
      /there 2 times, at lines 1, 3\./,
    ],
    [
      'a missing text, with the nearest part',
      'a\nb\nfunction foo(a, b) {\n  return a;\n}\n',
      [{ search: 'function foo(a) {\n  return a;\n}', replace: '' }],
      /nearest part of the file, with line numbers:\n3\tfunction foo\(a, b\) \{\n\t\^ your text has function foo\(a\) \{\n4\t {2}return a;\n5\t\}$/,
    ],
    [
      'a text with one letter wrong',
      'alpha\nbeta gamma delta\n',
      [{ search: 'beta gamna delta', replace: 'x' }],
      /numbers:\n2\tbeta gamma delta\n\t\^ your text has beta gamna delta$/,
    ],
    [
      'an edit that was made before',
      'new text\n',
      [{ search: 'old text', replace: 'new text' }],
      /already applied, at line 1/,
    ],
    [
      'a binary file',
      Buffer.from([0, 1, 2, 3, 4, 5, 6]),
      [{ search: 'a', replace: 'b' }],
      /^a\.txt is a binary file/,
    ],
    [
      'a file that patching would damage',
      Buffer.concat([Buffer.from('größer schöner übler\n'), Buffer.from([0xff])]),
      [{ search: 'schöner', replace: 'x' }],
      /bytes that are invalid in utf-8/,
    ],
    [
      'a character that the encoding lacks',
      iconv.encode('é a', 'latin1'),
      [{ search: 'a', replace: '漢' }],
      /can not hold/,
    ],
  ];
  it.each(refusals)('refuses %s, and leaves the file', async (_what, before, hunks, error) => {
    const world = createFileWorld();
    world.put('a.txt', before);
    const result = await world.run('patch_file', { path: 'a.txt', hunks });
    expect(errorOf(result)).toMatch(error);
    expect(result).toMatchObject({ code: 'execution_failed' });
    expect(world.bytes('a.txt')).toEqual(Buffer.from(before));
  });

  it.each([
    ['an empty search', [{ search: '', replace: 'x' }]],
    ['a hunk without effect', [{ search: 'a', replace: 'a' }]],
    ['no hunk', []],
    ['a hunk without a replacement', [{ search: 'a' }]],
  ])('calls %s wrong input', async (_what, hunks) => {
    const world = createFileWorld();
    world.put('a.txt', 'a');
    expect(await world.run('patch_file', { path: 'a.txt', hunks })).toMatchObject({
      ok: false,
      code: 'input_invalid',
    });
    expect(world.get('a.txt')).toBe('a');
  });

  it('replaces more places than a result may have values', async () => {
    const world = createFileWorld();
    world.put('one.txt', 'x,'.repeat(1_000_001));
    const result = await world.run('patch_file', {
      path: 'one.txt',
      hunks: [{ search: ',', replace: ';', replace_all: true }],
    });
    const lines = Array.from({ length: 100 }, () => 1);
    expect(result).toMatchObject({
      ok: true,
      structured: { applied: [{ lines, places: 1_000_001 }] },
    });
  });

  it('suggests near names for a missing file', async () => {
    const world = createFileWorld();
    world.put('index.ts', 'a');
    const result = await world.run('patch_file', {
      path: 'indx.ts',
      hunks: [{ search: 'a', replace: 'b' }],
    });
    expect(errorOf(result)).toContain('Did you mean index.ts?');
  });

  it('on a dry run shows the difference, and changes nothing', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'one\n');
    const result = await world.run(
      'patch_file',
      { path: 'a.txt', hunks: [{ search: 'one', replace: 'two' }] },
      { dryRun: true },
    );
    expect(textOf(result)).toContain('[dry-run] a.txt would be patched: 1 hunk, +1 -1.');
    expect(textOf(result)).toContain('-one\n+two\n');
    expect(world.get('a.txt')).toBe('one\n');
    expect(world.records.size).toBe(0);
  });

  const denials: [what: string, path: string][] = [
    ['a path outside', '../outside/a.txt'],
    ['a link that leaves', 'link.txt'],
    ['a path on the deny floor', 'denied.txt'],
    ['a path that may only be read', 'read-only/a.txt'],
  ];
  it.each(denials)('refuses %s: %j with PATH_NOT_REACHABLE', async (_what, path) => {
    const world = createFileWorld({
      deny: ['denied.txt'],
      read: ['.'],
      write: ['link.txt', 'denied.txt'],
    });
    world.put('../outside/a.txt', 'SECRET a');
    world.put('denied.txt', 'SECRET a');
    world.put('read-only/a.txt', 'a');
    symlinkSync('../outside/a.txt', join(world.dir, 'link.txt'));
    const args = { path, hunks: [{ search: 'a', replace: 'b' }] };
    for (const dryRun of [true, false]) {
      const result = await world.run('patch_file', args, { dryRun });
      expect(errorOf(result)).toMatch(/^PATH_NOT_REACHABLE: /);
      expect(errorOf(result)).not.toContain('SECRET');
    }
    expect(world.get('../outside/a.txt')).toBe('SECRET a');
    expect(world.get('denied.txt')).toBe('SECRET a');
    expect(world.get('read-only/a.txt')).toBe('a');
  });
});

describe('parallel edits of one file', () => {
  const spellings = (at: number) => ['a.txt', './a.txt', 'sub/../a.txt'][at % 3];

  it('lose none of many patches in one batch', async () => {
    const count = tries({ check: 25, long: 100 });
    const world = createFileWorld();
    world.put('a.txt', Array.from({ length: count }, (_, at) => `<${at}>\n`).join(''));
    textOf(await world.run('read_file', { path: 'a.txt' }));
    const calls = Array.from(
      { length: count },
      (_, at): Call => [
        'patch_file',
        { path: spellings(at), hunks: [{ search: `<${at}>`, replace: `done ${at}` }] },
      ],
    );
    for (const result of await world.runAll(calls)) textOf(result);
    expect(world.get('a.txt')).toBe(
      Array.from({ length: count }, (_, at) => `done ${at}\n`).join(''),
    );
  });

  it('and reads of it leave a record of the last edit', async () => {
    const { ctx, storage } = createTestContext(patchFileTool, {
      files: { '/workspace/a.txt': 'old' },
    });
    const { scopedFs } = ctx;
    assert(scopedFs !== undefined);
    const slow = new Proxy(scopedFs, {
      get: (target, name) =>
        name === 'readBytes'
          ? async (path: string) => {
              const bytes = await target.readBytes(path);
              await sleep(20);
              return bytes;
            }
          : Reflect.get(target, name).bind(target),
    });
    const hunks = [{ search: 'old', replace: 'new', replace_all: false }];
    await Promise.all([
      readFileTool.execute(
        { path: 'a.txt', offset: 1, limit: 9, line_numbers: false },
        { ...ctx, scopedFs: slow },
      ),
      patchFileTool.execute({ path: 'a.txt', hunks }, ctx),
    ]);
    textOf(await writeFileTool.execute({ path: 'a.txt', content: 'end', create_only: false }, ctx));
    expect(await storage.read('/workspace/a.txt')).toBe('end');
  });

  it.each([
    ['a link to the file', 'link.txt'],
    ['a link to its folder', 'linked/a.txt'],
  ])('lose none of two patches of one batch, one through %s', async (_what, other) => {
    const world = createFileWorld();
    world.put('real/a.txt', '');
    symlinkSync('real/a.txt', join(world.dir, 'link.txt'));
    symlinkSync('real', join(world.dir, 'linked'));
    const rounds = tries({ check: 5, long: 20 });
    for (let round = 0; round < rounds; round += 1) {
      world.put('real/a.txt', 'one\ntwo\n');
      const results = await world.runAll(
        [
          ['patch_file', { path: 'real/a.txt', hunks: [{ search: 'one', replace: '1' }] }],
          ['patch_file', { path: other, hunks: [{ search: 'two', replace: '2' }] }],
        ],
        { readMtimes: new Map() },
      );
      expect(results.map(({ ok }) => ok)).toEqual([true, true]);
      expect(world.get('real/a.txt')).toBe('1\n2\n');
    }
  });

  it('refuse the second of two names when both were read before', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'one two');
    symlinkSync('a.txt', join(world.dir, 'link.txt'));
    for (const path of ['a.txt', 'link.txt']) await world.run('read_file', { path });
    const results = await world.runAll([
      ['patch_file', { path: 'a.txt', hunks: [{ search: 'one', replace: '1' }] }],
      ['patch_file', { path: 'link.txt', hunks: [{ search: 'two', replace: '2' }] }],
    ]);
    expect(results).toMatchObject([{ ok: true }, { ok: false, code: 'STALE_WRITE' }]);
    expect(world.get('a.txt')).toBe('1 two');
  });

  it('go on after one that fails', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'a b');
    const results = await world.runAll([
      ['patch_file', { path: 'a.txt', hunks: [{ search: 'none', replace: 'x' }] }],
      ['patch_file', { path: 'a.txt', hunks: [{ search: 'a', replace: 'c' }] }],
      ['patch_file', { path: 'a.txt', hunks: [{ search: 'b', replace: 'd' }] }],
    ]);
    expect(results.map(({ ok }) => ok)).toEqual([false, true, true]);
    expect(world.get('a.txt')).toBe('c d');
  });

  it('let one of two batches with old records win, and tell the other', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'old');
    const runs = [new Map(), new Map()];
    for (const readMtimes of runs) await world.run('read_file', { path: 'a.txt' }, { readMtimes });
    const results = await Promise.all(
      runs.map((readMtimes, at) =>
        world.run('write_file', { path: 'a.txt', content: `new ${at}` }, { readMtimes }),
      ),
    );
    expect(results).toMatchObject([{ ok: true }, { ok: false, code: 'STALE_WRITE' }]);
    expect(world.get('a.txt')).toBe('new 0');
  });

  it('leave nothing when the turn is aborted first', async () => {
    const world = createFileWorld();
    const result = await world.run(
      'write_file',
      { path: 'a.txt', content: 'a' },
      { abortSignal: AbortSignal.abort() },
    );
    expect(result.ok).toBe(false);
    expect(existsSync(join(world.dir, 'a.txt'))).toBe(false);
  });
});
