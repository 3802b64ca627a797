import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FsStorage } from './fs-storage.js';

// A long run sets these; both print what was done.
const SWAPS = Number(process.env.ETHOS_TEST_SWAPS ?? 2_000);
const KILLS = Number(process.env.ETHOS_TEST_KILLS ?? 15);

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

let base: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'races-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(base, { recursive: true, force: true });
});

describe('FsStorage.contained while files and folders are swapped for links', () => {
  it(`reads, lists, writes, renames and removes nothing outside, ${SWAPS} swaps`, async () => {
    const arena = join(base, 'arena');
    const outside = join(base, 'outside');
    mkdirSync(join(arena, 'folder'), { recursive: true });
    mkdirSync(join(outside, 'tree'), { recursive: true });
    writeFileSync(join(arena, 'leaf'), 'hello');
    writeFileSync(join(arena, 'folder', 'secret'), 'hello');
    writeFileSync(join(outside, 'secret'), 'SECRET');
    writeFileSync(join(outside, 'tree', 'leaf'), 'SECRET');

    child = spawn(process.execPath, [fixture('swapper.mjs'), arena, outside, String(SWAPS)]);
    const ended = once(child, 'exit');
    let isRunning = true;
    ended.then(() => {
      isRunning = false;
    });

    const view = new FsStorage().contained({ read: [arena], write: [arena] });
    const descriptors = readdirSync('/proc/self/fd').length;
    const counts = { fulfilled: 0, rejected: 0 };
    const codes = new Set<string>();
    for (let turn = 0; isRunning; turn += 1) {
      const folder = join(arena, 'folder');
      const reads = Array.from({ length: 40 }, async (_, index) => {
        if (index % 8 === 0) await new Promise((done) => setImmediate(done));
        return view.read(index % 2 === 0 ? join(arena, 'leaf') : join(folder, 'secret'));
      });
      const outcomes = await Promise.allSettled([
        ...reads,
        view.read(join(arena, 'leaf')),
        view.read(join(folder, 'secret')),
        view.readBytes(join(folder, 'secret')).then((b) => b && Buffer.from(b).toString()),
        view.list(folder).then((names) => (names.includes('tree') ? 'SECRET' : '')),
        view.exists(join(folder, 'tree', 'leaf')).then((is) => (is ? 'SECRET' : '')),
        view.write(join(folder, `made-${turn % 10}`), 'x'),
        view.write(join(arena, 'leaf'), 'hello'),
        view.mkdir(join(folder, 'made', 'deep')),
        view.rename(join(folder, `made-${turn % 10}`), join(folder, 'renamed')),
        view.rename(join(folder, 'secret'), join(arena, 'stolen')),
        view.read(join(arena, 'stolen')),
        view.remove(join(folder, 'secret')),
        view.remove(join(folder, 'tree'), { recursive: true }),
      ]);
      for (const outcome of outcomes) {
        counts[outcome.status] += 1;
        if (outcome.status === 'fulfilled') expect(outcome.value).not.toBe('SECRET');
        else codes.add(String(outcome.reason.code));
      }
    }
    console.log(`swaps: ${SWAPS}, calls: ${JSON.stringify(counts)}, ${[...codes].join(' ')}`);
    expect((await ended)[0]).toBe(0);
    expect(readdirSync(outside).sort()).toEqual(['secret', 'tree']);
    expect(readdirSync(join(outside, 'tree'))).toEqual(['leaf']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
    expect(codes).toContain('PATH_NOT_REACHABLE');
    expect(counts.fulfilled).toBeGreaterThan(0);
    // The child's pipes are among them while it runs, so there may be fewer now.
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(descriptors);
  });
});

describe('FsStorage.write while its process is killed', () => {
  it(`leaves the old content or the new, and nothing else, ${KILLS} kills`, async () => {
    const path = join(base, 'file');
    let acknowledged = -1;
    let leftovers = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      child = spawn(
        process.execPath,
        ['--import', tsx, fixture('writer.mjs'), path, String(acknowledged + 1)],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, TSX_TSCONFIG_PATH: fixture('tsconfig.json') },
        },
      );
      let output = '';
      child.stdout?.on('data', (data) => {
        output += data;
      });
      const closed = once(child, 'close');
      while (output === '' && child.exitCode === null) {
        await new Promise((done) => setTimeout(done, 5));
      }
      await new Promise((done) => setTimeout(done, Math.random() * 20));
      child.kill('SIGKILL');
      await closed;

      acknowledged = Number(output.trim().split('\n').at(-1));
      const content = readFileSync(path, 'utf8');
      const written = Number.parseInt(content, 10);
      expect(content).toBe(`${written}\n`.repeat(20_000));
      expect(written).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = written;
      leftovers = readdirSync(base).length - 1;
    }
    const storage = new FsStorage();
    expect(await storage.list(base)).toEqual(['file']);
    await storage.write(join(base, 'other'), 'x');
    expect(readdirSync(base).sort()).toEqual(['file', 'other']);
    console.log(
      `kills: ${KILLS}, writes: ${acknowledged}, leftovers before the sweep: ${leftovers}`,
    );
  });
});
