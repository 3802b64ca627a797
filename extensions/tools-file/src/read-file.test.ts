import { linkSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf, runTool, textOf } from '@ethosagent/plugin-sdk/testing';
import iconv from 'iconv-lite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fileLines } from './file-lines.js';
import { createFileWorld } from './fixtures/file-world.js';
import { readFileTool } from './read-file.js';

/** Counts the parts that are cut out of texts, until the test ends. */
function countSlices(): () => number {
  const spy = vi.spyOn(String.prototype, 'slice');
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.length;
}

describe('a file of empty lines, of which each would take a hundred times its size', () => {
  const lines = '\n'.repeat(20_000);

  it('is not split to show some of them', async () => {
    const world = createFileWorld();
    world.put('a.txt', lines);
    const slices = countSlices();
    const result = await world.run('read_file', { path: 'a.txt', offset: 10_000, limit: 5 });
    expect(slices()).toBeLessThan(2_000);
    expect(textOf(result)).toBe(
      `${'\n'.repeat(6)}[lines 10000-10004 of 20000 are shown; read on with offset 10005]`,
    );
  });

  it('is not split to find one of them', async () => {
    const slices = countSlices();
    const at = await fileLines(Buffer.from(`\ufeff${lines}last`, 'utf16le'));
    expect([at?.(1), at?.(20_001), at?.(20_002)]).toEqual(['', 'last', undefined]);
    expect(slices()).toBeLessThan(100);
  });
});

describe('read_file', () => {
  it('answers a whole file with exactly its text, CRLF included, and records it', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'one\r\ntwo\r\n');
    const path = join(world.dir, 'a.txt');
    const { mtimeMs } = statSync(path);
    expect(await world.run('read_file', { path: 'a.txt' }, { currentTurn: 7 })).toEqual({
      ok: true,
      value: 'one\r\ntwo\r\n',
      structured: {
        path,
        encoding: 'utf-8',
        totalLines: 2,
        startLine: 1,
        endLine: 2,
        mtimeMs,
        sizeBytes: 10,
      },
    });
    expect([...world.records]).toEqual([[path, { mtimeMs, readAtTurn: 7 }]]);
  });

  it('shows the lines asked for, and how to read on', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'a\nb\nc\nd');
    const first = await world.run('read_file', { path: 'a.txt', limit: 2, line_numbers: true });
    expect(textOf(first)).toBe('1\ta\n2\tb\n\n[lines 1-2 of 4 are shown; read on with offset 3]');
    const rest = await world.run('read_file', { path: 'a.txt', offset: 3 });
    expect(textOf(rest)).toBe('c\nd\n\n[lines 3-4 of 4 are shown]');
    expect(rest).toMatchObject({ structured: { startLine: 3, endLine: 4, totalLines: 4 } });
  });

  it('keeps whole lines within the budget of the call', async () => {
    const world = createFileWorld();
    world.put('a.txt', '0123456789\n'.repeat(1_000));
    const value = textOf(
      await world.run('read_file', { path: 'a.txt' }, { resultBudgetChars: 2_000 }),
    );
    expect(value.length).toBeLessThanOrEqual(2_000);
    expect(value).toMatch(
      /0123456789\n\n\[lines 1-\d+ of 1000 are shown; read on with offset \d+\]$/,
    );
    expect(value).not.toContain('[truncated');
  });

  it('cuts a line that is data rather than text', async () => {
    const world = createFileWorld();
    world.put('a.js', `start\n${'😀'.repeat(50_000)}\nend\n`);
    const value = textOf(await world.run('read_file', { path: 'a.js' }));
    expect(value.length).toBeLessThan(6_000);
    expect(value.isWellFormed()).toBe(true);
    expect(value).toContain('… [line cut: 100000 characters]\nend\n');
    expect(value).toContain('[cut: line 2;');
  });

  it('says that a file is empty', async () => {
    const world = createFileWorld();
    world.put('a.txt', '');
    expect(textOf(await world.run('read_file', { path: 'a.txt' }))).toBe('[the file is empty]');
  });

  it('tells the user about a file over 1 MB, and only then', async () => {
    const world = createFileWorld();
    world.put('small.txt', 'x\n'.repeat(1000));
    world.put('big.txt', 'x\n'.repeat(600_000));
    await world.run('read_file', { path: 'small.txt' });
    expect(world.events).toEqual([]);
    await world.run('read_file', { path: 'big.txt' });
    expect(world.events).toMatchObject([
      { type: 'progress', toolName: 'read_file', audience: 'user' },
    ]);
  });

  const encodings: [encoding: string, bytes: Buffer][] = [
    ['utf-8', Buffer.from('héllo wörld ünïcödé')],
    ['utf-8', Buffer.from('\ufeffhéllo wörld ünïcödé')],
    ['utf-16le', iconv.encode('héllo wörld ünïcödé', 'utf-16le', { addBOM: true })],
    ['utf-16be', iconv.encode('héllo wörld ünïcödé', 'utf-16be', { addBOM: true })],
    ['utf-16le', iconv.encode('héllo wörld ünïcödé', 'utf-16le', { addBOM: false })],
    ['windows-1252', iconv.encode('héllo wörld ünïcödé', 'windows-1252')],
  ];
  it.each(encodings)('decodes %s %#', async (encoding, bytes) => {
    const world = createFileWorld();
    world.put('a.txt', bytes);
    const result = await world.run('read_file', { path: 'a.txt' });
    expect(textOf(result)).toBe('héllo wörld ünïcödé');
    expect(result).toMatchObject({ structured: { encoding } });
  });

  const binaries: [type: string, bytes: Buffer][] = [
    ['application/pdf', Buffer.from('255044462d312e370a00ff00fe', 'hex')],
    ['of unknown type', Buffer.from([1, 0, 2, 0, 3, 0, 200, 0, 7, 0, 0, 0])],
    ['application/gzip', Buffer.from('1f8b0800000000000003', 'hex')],
  ];
  it.each(binaries)('tells of a binary file, %s, only what it is', async (type, bytes) => {
    const world = createFileWorld();
    world.put('a.bin', bytes);
    const result = await world.run('read_file', { path: 'a.bin' });
    expect(textOf(result)).toBe(
      `[a.bin is a binary file, ${type}, ${bytes.length} bytes; its content is not shown]`,
    );
    expect(world.records.size).toBe(0);
  });

  it('suggests near names for a missing file, only those in reach', async () => {
    const world = createFileWorld({ deny: ['settings.yml'] });
    world.put('settings.yaml', 'a');
    world.put('settings.yml', 'a');
    world.put('other.txt', 'a');
    const result = await world.run('read_file', { path: 'setings.yaml' });
    expect(errorOf(result)).toBe(
      'FILE_NOT_FOUND: there is nothing at setings.yaml. Did you mean settings.yaml?',
    );
    expect(world.records.size).toBe(0);
  });

  it('reads through any storage, and keeps within the text of one without links', async () => {
    const files = { '/workspace/a.txt': 'a\n', '/elsewhere/b.txt': 'SECRET' };
    const inside = await runTool(readFileTool, { path: 'a.txt' }, { files });
    expect(textOf(inside.result)).toBe('a\n');
    const outside = await runTool(readFileTool, { path: '../elsewhere/b.txt' }, { files });
    expect(errorOf(outside.result)).toMatch(/^PATH_NOT_REACHABLE: /);
    const missing = await runTool(readFileTool, { path: 'b.txt' }, { files });
    expect(errorOf(missing.result)).toMatch(/^FILE_NOT_FOUND: .* Did you mean a\.txt\?$/);
  });

  it('refuses an offset after the end', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'a\nb\n');
    expect(await world.run('read_file', { path: 'a.txt', offset: 3 })).toEqual({
      ok: false,
      code: 'input_invalid',
      error: 'a.txt has 2 lines, so none at offset 3.',
    });
    expect(world.records.size).toBe(0);
  });

  const denials: [what: string, path: string, code: string][] = [
    ['a path outside', '../outside/secret.txt', 'PATH_NOT_REACHABLE'],
    ['an absolute path outside', '/etc/passwd', 'PATH_NOT_REACHABLE'],
    ['a name that only starts like the reach', '../work2/a.txt', 'PATH_NOT_REACHABLE'],
    ['a link that leaves', 'link.txt', 'PATH_NOT_REACHABLE'],
    ['a folder link that leaves', 'linked/secret.txt', 'PATH_NOT_REACHABLE'],
    ['a path on the deny floor', 'denied/key', 'PATH_NOT_REACHABLE'],
    ['a hard link to the deny floor', 'hard', 'PATH_NOT_REACHABLE'],
    ['the process environment', '/proc/self/environ', 'PATH_NOT_REACHABLE'],
    ['a folder', 'denied/..', 'NOT_A_FILE'],
    ['a missing file', 'none', 'FILE_NOT_FOUND'],
    ['a NUL in the path', 'a\0b', 'PATH_INVALID'],
  ];
  it.each(denials)('refuses %s: %j with %s', async (_what, path, code) => {
    const world = createFileWorld({ deny: ['denied'] });
    world.put('../outside/secret.txt', 'SECRET');
    world.put('denied/key', 'SECRET');
    symlinkSync('../outside/secret.txt', join(world.dir, 'link.txt'));
    symlinkSync(world.outside, join(world.dir, 'linked'));
    linkSync(join(world.dir, 'denied/key'), join(world.dir, 'hard'));
    mkdirSync(join(world.dir, '../work2'));
    const result = await world.run('read_file', { path });
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(errorOf(result)).toContain(code);
    expect(errorOf(result)).not.toContain('SECRET');
    expect(world.records.size).toBe(0);
  });

  it('does not answer once the turn is aborted', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'a');
    const result = await world.run(
      'read_file',
      { path: 'a.txt' },
      { abortSignal: AbortSignal.abort() },
    );
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(world.records.size).toBe(0);
  });

  it.each([
    [{}],
    [{ path: '' }],
    [{ path: 'a', offset: 0 }],
    [{ path: 'a', limit: 1.5 }],
    [{ path: 3 }],
  ])('refuses the arguments %j', async (args) => {
    const world = createFileWorld();
    expect(await world.run('read_file', args)).toMatchObject({ ok: false, code: 'input_invalid' });
  });
});
