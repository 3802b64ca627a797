import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTries } from '@ethosagent/test-support';
import type { Storage } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { append, openDescriptors, type StorageWorld } from './storage-world.js';
import { startSwapper } from './swapper.js';

/** Attacks with files and folders that are replaced by links between check and use. */
export function raceAttacks(w: StorageWorld, swaps: number): void {
  describe('while files and folders are swapped for links', () => {
    it(`reads, lists, writes, renames and removes nothing outside, ${swaps} swaps`, async (context) => {
      const arena = join(w.inside, 'arena');
      mkdirSync(join(arena, 'folder'), { recursive: true });
      mkdirSync(join(w.outside, 'tree'));
      writeFileSync(join(arena, 'leaf'), 'hello');
      writeFileSync(join(arena, 'folder', 'secret'), 'hello');
      writeFileSync(join(w.outside, 'tree', 'leaf'), 'SECRET');

      const view = w.create({ read: [arena], write: [arena] });
      const descriptors = openDescriptors();
      const { process: child, stop } = startSwapper(arena, w.outside, swaps);
      context.onTestFinished(() => {
        child.kill('SIGKILL');
      });
      let isRunning = true;
      const ended = once(child, 'exit').finally(() => {
        isRunning = false;
      });

      const counts = { fulfilled: 0, rejected: 0 };
      const codes = new Set<unknown>();
      for (let turn = 0; isRunning; turn += 1) {
        for (const outcome of await Promise.allSettled(callsOf(view, arena, turn))) {
          counts[outcome.status] += 1;
          if (outcome.status === 'fulfilled') expect(outcome.value).not.toBe('SECRET');
          else codes.add(outcome.reason.code);
        }
        // On a busy machine, no call may meet a swap in some rounds.
        if (codes.has('PATH_NOT_REACHABLE') && counts.fulfilled > 0) stop();
      }
      expect((await ended)[0]).toBe(0);
      expect(readdirSync(w.outside).sort()).toEqual(['dir', 'secret', 'tree']);
      expect(readdirSync(join(w.outside, 'tree'))).toEqual(['leaf']);
      for (const secret of ['secret', 'tree/leaf']) {
        expect(readFileSync(join(w.outside, secret), 'utf8')).toBe('SECRET');
      }
      expect(codes).toContain('PATH_NOT_REACHABLE');
      expect(counts.fulfilled).toBeGreaterThan(0);
      expect(openDescriptors()).toBeLessThanOrEqual(descriptors);
      countTries(context, 'reach', swaps);
    });
  });
}

/** Calls every method in the arena. A result of `SECRET` was read outside. */
function callsOf(view: Storage, arena: string, turn: number): Promise<unknown>[] {
  const leaf = join(arena, 'leaf');
  const folder = join(arena, 'folder');
  const secret = join(folder, 'secret');
  const made = join(folder, `made-${turn % 10}`);
  const reads = Array.from({ length: 40 }, async (_, index) => {
    if (index % 8 === 0) await new Promise((done) => setImmediate(done));
    return view.read(index % 2 === 0 ? leaf : secret);
  });
  return [
    ...reads,
    view.read(leaf),
    view.read(secret),
    view.readBytes(secret).then((bytes) => bytes && Buffer.from(bytes).toString()),
    view.list(folder).then((names) => (names.includes('tree') ? 'SECRET' : '')),
    view.exists(join(folder, 'tree', 'leaf')).then((is) => (is ? 'SECRET' : '')),
    view.write(made, 'x'),
    view.write(leaf, 'hello'),
    append(view, leaf, 'x'),
    append(view, secret, 'x'),
    append(view, made, 'x'),
    view.mkdir(join(folder, 'made', 'deep')),
    view.rename(made, join(folder, 'renamed')),
    view.rename(secret, join(arena, 'stolen')),
    view.read(join(arena, 'stolen')),
    view.remove(secret),
    view.remove(join(folder, 'tree'), { recursive: true }),
  ];
}
