import { existsSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { createTestContext, errorOf, structuredOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { describe, expect, it } from 'vitest';
import { createFileWorld, type FileWorld } from './fixtures/file-world.js';
import { writeFileTool } from './write-file.js';

describe('write_file', () => {
  it('creates a file with its folders, and says so', async () => {
    const world = createFileWorld();
    const result = await world.run('write_file', { path: 'a/b/c.txt', content: 'ä\r\nb' });
    expect(world.get('a/b/c.txt')).toBe('ä\r\nb');
    expect(result).toEqual({
      ok: true,
      untrusted: false,
      value: 'Created a/b/c.txt: 2 lines, 5 bytes.',
      structured: {
        path: join(world.dir, 'a/b/c.txt'),
        sizeBytes: 5,
        created: true,
        mtimeMs: statSync(join(world.dir, 'a/b/c.txt')).mtimeMs,
      },
    });
  });

  it('replaces a file that was never read', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'old');
    const result = await world.run('write_file', { path: 'a.txt', content: 'new' });
    expect(textOf(result)).toBe('Replaced a.txt: 1 line, 3 bytes.');
    expect(world.get('a.txt')).toBe('new');
  });

  it('with create_only refuses what is there, and creates what is not', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'old');
    const refused = await world.run('write_file', {
      path: 'a.txt',
      content: 'x',
      create_only: true,
    });
    expect(errorOf(refused)).toMatch(/^ALREADY_EXISTS: /);
    expect(world.get('a.txt')).toBe('old');
    textOf(await world.run('write_file', { path: 'b.txt', content: 'x', create_only: true }));
    expect(world.get('b.txt')).toBe('x');
  });

  it('writes where only writing is in reach', async () => {
    const world = createFileWorld({ read: ['in'], write: ['out'] });
    textOf(await world.run('write_file', { path: 'out/a.txt', content: 'a' }));
    textOf(await world.run('write_file', { path: 'out/a.txt', content: 'b' }));
    expect(world.get('out/a.txt')).toBe('b');
  });

  it('does not look at a file that it may not read, so nothing is denied, and tells nothing of the file', async () => {
    const world = createFileWorld({ read: ['in'], write: ['out'] });
    world.put('out/there.txt', 'old');
    const [there, missing] = await Promise.all(
      ['there', 'missing'].map(async (name) => {
        const path = `out/${name}.txt`;
        const result = await world.run('write_file', { path, content: 'a' });
        const events = world.audit.events.flatMap((event) =>
          'target' in event && event.target === join(world.dir, path)
            ? [`${event.operation} ${event.decision}`]
            : [],
        );
        const all = JSON.stringify([textOf(result), structuredOf(result), events]);
        return { events, all: all.replaceAll(name, '') };
      }),
    );
    expect(there?.events).toEqual(['write allowed']);
    expect(there).toEqual(missing);
  });

  it('and still refuses each write out of reach, with the denial in the log', async () => {
    const world = createFileWorld({ read: ['in'], write: ['out'], deny: ['out/denied'] });
    world.put('elsewhere/a.txt', 'old');
    world.put('out/denied/a.txt', 'old');
    symlinkSync(join(world.dir, 'elsewhere'), join(world.dir, 'out/link'));
    const paths = [
      'elsewhere/a.txt',
      'out/denied/a.txt',
      'out/link/a.txt',
      'out/../elsewhere/a.txt',
    ];
    for (const path of paths) {
      const result = await world.run('write_file', { path, content: 'a' });
      expect(errorOf(result), path).toMatch(/^PATH_NOT_REACHABLE: /);
    }
    const decisions = world.audit.events.flatMap((event) =>
      'operation' in event && 'decision' in event ? [`${event.operation} ${event.decision}`] : [],
    );
    expect(decisions).toEqual(paths.map(() => 'write denied'));
    expect(world.get('elsewhere/a.txt')).toBe('old');
    expect(world.get('out/denied/a.txt')).toBe('old');
  });

  it('and looks where a link in a readable folder leads, which is denied', async () => {
    const world = createFileWorld({ read: ['in'], write: ['in', 'out'] });
    world.put('in/a.txt', 'old');
    world.put('out/b.txt', 'old');
    symlinkSync(join(world.dir, 'out/b.txt'), join(world.dir, 'in/link.txt'));
    textOf(await world.run('write_file', { path: 'in/link.txt', content: 'new' }));
    expect(world.audit.events).toContainEqual(
      expect.objectContaining({ operation: 'mtime', decision: 'denied' }),
    );
    expect(world.get('out/b.txt')).toBe('new');
  });

  it('on a dry run shows what would change, and changes nothing', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'one\ntwo\n');
    const replaced = await world.run(
      'write_file',
      { path: 'a.txt', content: 'one\nthree\n' },
      { dryRun: true },
    );
    expect(textOf(replaced)).toContain('[dry-run] a.txt would be replaced');
    expect(textOf(replaced)).toContain('-two\n+three\n');
    textOf(await world.run('write_file', { path: 'b/c.txt', content: 'x' }, { dryRun: true }));
    expect(world.get('a.txt')).toBe('one\ntwo\n');
    expect(readdirSync(world.dir)).toEqual(['a.txt']);
    expect(world.records.size).toBe(0);
  });

  it('has nothing to compare when the context keeps no records', async () => {
    const { ctx, storage } = createTestContext(writeFileTool, {
      files: { '/workspace/a.txt': 'old' },
    });
    delete ctx.readMtimes;
    const args = { path: 'a.txt', content: 'new', create_only: false };
    textOf(await writeFileTool.execute(args, ctx));
    expect(await storage.read('/workspace/a.txt')).toBe('new');
  });

  const denials: [what: string, path: string, code: string][] = [
    ['a path outside', '../outside/new.txt', 'PATH_NOT_REACHABLE'],
    ['an absolute path outside', '/tmp/tools-file-must-not-exist', 'PATH_NOT_REACHABLE'],
    ['a link that leaves', 'link.txt', 'PATH_NOT_REACHABLE'],
    ['a dangling link that leaves', 'dangling.txt', 'PATH_NOT_REACHABLE'],
    ['a folder link that leaves', 'linked/new.txt', 'PATH_NOT_REACHABLE'],
    ['a path on the deny floor', 'denied/new.txt', 'PATH_NOT_REACHABLE'],
    ['a folder', 'folder', 'NOT_A_FILE'],
    ['a file as a folder', 'file.txt/new.txt', 'NOT_A_DIRECTORY'],
    ['a NUL in the path', 'a\0b', 'PATH_INVALID'],
  ];
  it.each(denials)('refuses %s: %j with %s', async (_what, path, code) => {
    const world = createFileWorld({ deny: ['denied'] });
    world.put('../outside/secret.txt', 'SECRET');
    world.put('folder/x', '');
    world.put('file.txt', '');
    symlinkSync('../outside/secret.txt', join(world.dir, 'link.txt'));
    symlinkSync('../outside/none.txt', join(world.dir, 'dangling.txt'));
    symlinkSync(world.outside, join(world.dir, 'linked'));
    const result = await world.run('write_file', { path, content: 'x' });
    expect(result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(errorOf(result)).toContain(code);
    expect(readdirSync(world.outside)).toEqual(['secret.txt']);
    expect(world.get('../outside/secret.txt')).toBe('SECRET');
    expect(existsSync(join(world.dir, 'denied'))).toBe(false);
  });

  it.each(['../outside/new.txt', 'denied/new.txt', 'read-only/new.txt', 'read-only/old.txt'])(
    'on a dry run refuses %j, as it does when it runs',
    async (path) => {
      const world = createFileWorld({ deny: ['denied'], read: ['.'], write: ['denied'] });
      world.put('read-only/old.txt', 'old');
      const args = { path, content: 'x' };
      for (const dryRun of [true, false]) {
        const result = await world.run('write_file', args, { dryRun });
        expect(errorOf(result)).toMatch(/^PATH_NOT_REACHABLE: write not permitted/);
      }
    },
  );

  it('on a dry run of a new file shows nobody else’s text', async () => {
    const world = createFileWorld();
    world.put('old.txt', 'old');
    const dry = (path: string) => world.run('write_file', { path, content: 'x' }, { dryRun: true });
    expect(await dry('new.txt')).toMatchObject({ untrusted: false });
    expect(await dry('old.txt')).not.toHaveProperty('untrusted');
  });

  it('refuses half a surrogate pair', async () => {
    const world = createFileWorld();
    const result = await world.run('write_file', { path: 'a', content: '\ud83d' });
    expect(result).toMatchObject({ ok: false, code: 'input_invalid' });
    expect(readdirSync(world.dir)).toEqual([]);
  });
});

describe('STALE_WRITE', () => {
  const writers: [name: string, args: object][] = [
    ['write_file', { path: 'a.txt', content: 'mine' }],
    ['patch_file', { path: 'a.txt', hunks: [{ search: 'line', replace: 'mine' }] }],
  ];
  async function worldWithRead(): Promise<FileWorld> {
    const world = createFileWorld();
    world.put('a.txt', 'line one');
    textOf(await world.run('read_file', { path: 'a.txt' }));
    return world;
  }

  describe.each(writers)('%s', (name, args) => {
    it('refuses a file that was changed since it was read', async () => {
      const world = await worldWithRead();
      world.put('a.txt', 'line two');
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'STALE_WRITE' });
      expect(world.get('a.txt')).toBe('line two');
    });

    it('refuses a file that was deleted since it was read, until a read has said so', async () => {
      const world = await worldWithRead();
      rmSync(join(world.dir, 'a.txt'));
      for (const options of [{}, { dryRun: true }, {}]) {
        const refused = await world.run(name, args, options);
        expect(refused).toMatchObject({ ok: false, code: 'STALE_WRITE' });
        expect(errorOf(refused)).toContain('a.txt was deleted since it was read');
        expect(existsSync(join(world.dir, 'a.txt'))).toBe(false);
      }
      expect(errorOf(await world.run('read_file', { path: 'a.txt' }))).toMatch(/^FILE_NOT_FOUND/);
      textOf(await world.run('write_file', { path: 'a.txt', content: 'line mine' }));
      expect(world.get('a.txt')).toBe('line mine');
    });

    it('refuses one that it wrote itself and that was deleted since', async () => {
      const world = createFileWorld();
      textOf(await world.run('write_file', { path: 'a.txt', content: 'line' }));
      rmSync(join(world.dir, 'a.txt'));
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'STALE_WRITE' });
      expect(existsSync(join(world.dir, 'a.txt'))).toBe(false);
    });

    it('refuses a deleted one of which another made the record', async () => {
      const world = createFileWorld();
      world.records.set(join(world.dir, 'a.txt'), { mtimeMs: 1, readAtTurn: 1 });
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'STALE_WRITE' });
      expect(existsSync(join(world.dir, 'a.txt'))).toBe(false);
    });

    it('refuses a change that left the time stamp as it was', async () => {
      const world = await worldWithRead();
      const { atime, mtime } = statSync(join(world.dir, 'a.txt'));
      const path = join(world.dir, 'a.txt');
      utimesSync(path, atime, mtime);
      textOf(await world.run('read_file', { path: 'a.txt' }));
      world.put('a.txt', 'line two');
      utimesSync(path, atime, mtime);
      expect(statSync(path).mtimeMs).toBe(world.records.get(path)?.mtimeMs);
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'STALE_WRITE' });
      expect(world.get('a.txt')).toBe('line two');
    });

    it('takes a mere touch for no change', async () => {
      const world = await worldWithRead();
      utimesSync(join(world.dir, 'a.txt'), new Date(), new Date(Date.now() + 60_000));
      textOf(await world.run(name, args));
      expect(world.get('a.txt')).toContain('mine');
    });

    it('goes by the time stamp of a record that another made', async () => {
      const world = createFileWorld();
      world.put('a.txt', 'line one');
      const path = join(world.dir, 'a.txt');
      world.records.set(path, { mtimeMs: 1, readAtTurn: 1 });
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'STALE_WRITE' });
      world.records.set(path, { mtimeMs: statSync(path).mtimeMs, readAtTurn: 1 });
      textOf(await world.run(name, args));
    });

    it('goes by the time stamp when another replaced the record', async () => {
      const world = await worldWithRead();
      world.records.set(join(world.dir, 'a.txt'), { mtimeMs: 1, readAtTurn: 1 });
      expect(await world.run(name, args)).toMatchObject({ ok: false, code: 'STALE_WRITE' });
    });

    it('does not take its own edit for a change', async () => {
      const world = await worldWithRead();
      textOf(await world.run(name, args));
      textOf(await world.run('write_file', { path: 'a.txt', content: 'again' }));
      expect(world.get('a.txt')).toBe('again');
    });

    it('refuses on a dry run too', async () => {
      const world = await worldWithRead();
      world.put('a.txt', 'line two');
      expect(await world.run(name, args, { dryRun: true })).toMatchObject({ code: 'STALE_WRITE' });
    });

    it('works after another read', async () => {
      const world = await worldWithRead();
      world.put('a.txt', 'line two');
      textOf(await world.run('read_file', { path: 'a.txt' }));
      textOf(await world.run(name, args));
    });

    it('has nothing to compare in a run that keeps no records', async () => {
      const world = await worldWithRead();
      world.put('a.txt', 'line two');
      const [result] = await world.runAll([[name, args]], { readMtimes: new Map() });
      textOf(result);
    });
  });

  it('says when the file was read, and to read it again', async () => {
    const world = createFileWorld();
    world.put('a.txt', 'a');
    await world.run('read_file', { path: 'a.txt' }, { currentTurn: 3 });
    world.put('a.txt', 'b');
    expect(errorOf(await world.run('write_file', { path: 'a.txt', content: 'c' }))).toBe(
      'a.txt was changed since it was read in turn 3. Nothing was written. Read it again with read_file, then repeat the edit on what it holds now.',
    );
  });
});
