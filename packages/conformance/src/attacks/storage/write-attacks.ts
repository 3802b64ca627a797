import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { countTries, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import type { RunningScript } from '../run-script.js';
import type { StorageWorld } from './storage-world.js';

/**
 * Starts a process that writes the same file again and again. In turn n, which begins at `from`, it
 * writes `contentOfTurn(n)`. When the write has succeeded, it prints n on a line of its own.
 */
export type StartWriter = (path: string, from: number) => RunningScript;

/**
 * Returns the content that a writer writes in a turn. It is longer than a block of the disk, and
 * differs from that of every other turn.
 *
 * @param turn the number of the turn, from 0
 * @returns a text of at least 40,000 characters
 */
export function contentOfTurn(turn: number): string {
  return `${turn}\n`.repeat(20_000);
}

/** Attacks with writes that race with others, or are interrupted. */
export function writeAttacks(w: StorageWorld, startWriter: StartWriter | undefined): void {
  const rounds = tries({ check: 1, nightly: 50, long: 500 });

  describe('while a file is written', () => {
    it(`50 writers of one path all succeed, and a reader finds one content whole, ${rounds} rounds`, async (context) => {
      const path = join(w.inside, 'shared');
      for (let round = 0; round < rounds; round += 1) {
        const contents = Array.from({ length: 50 }, (_, index) =>
          contentOfTurn(index).slice(0, 9_000),
        );
        let isWriting = true;
        const writing = Promise.all(contents.map((content) => w.view.write(path, content)));
        const done = writing.finally(() => {
          isWriting = false;
        });
        while (isWriting) {
          const read = await w.view.read(path);
          if (read !== null) expect(contents.includes(read)).toBe(true);
          await new Promise((next) => setImmediate(next));
        }
        await done;
        expect(contents).toContain(readFileSync(path, 'utf8'));
      }
      expect(readdirSync(w.inside).sort()).toEqual(['file', 'shared', 'sub']);
      countTries(context, 'files', rounds * 50);
    });

    it(`50 appends to one path all succeed, and each stays whole, ${rounds} rounds`, async (context) => {
      if (w.view.append === undefined) return;
      const path = join(w.inside, 'log');
      const lines = Array.from({ length: 50 }, (_, index) =>
        `${index};`.repeat(1_000 + 37 * index),
      );
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all(lines.map((line) => w.view.append?.(path, `${line}\n`)));
        const found = readFileSync(path, 'utf8').split('\n');
        expect(found.pop()).toBe('');
        expect(new Set(found)).toEqual(new Set(lines));
        expect(found).toHaveLength(lines.length);
        // The file is removed, so that it never becomes too large to read.
        rmSync(path);
      }
      expect(readdirSync(w.inside).sort()).toEqual(['file', 'sub']);
      countTries(context, 'files', lines.length * rounds);
    });

    it('a link planted at any name that appears meanwhile leads no byte outside', async (context) => {
      const target = join(w.outside, 'planted');
      let planted = 0;
      let isWriting = true;
      const writing = w.view.write(join(w.inside, 'file'), Buffer.alloc(3_000_000, 'x'));
      const done = writing.finally(() => {
        isWriting = false;
      });
      while (isWriting) {
        for (const name of readdirSync(w.inside)) {
          // Names beside each temporary file that a writer might use next.
          for (const guess of [`${name}.tmp`, `${name}~`, `.${name}.swp`, `${name}.1`]) {
            try {
              symlinkSync(target, join(w.inside, guess));
              planted += 1;
            } catch {
              // It exists already.
            }
          }
        }
        await new Promise((next) => setImmediate(next));
        if (planted > 100) break;
      }
      await done;
      expect(planted).toBeGreaterThan(0);
      expect(readdirSync(w.outside).sort()).toEqual(['dir', 'secret']);
      expect(readFileSync(join(w.inside, 'file'), 'utf8')).toBe('x'.repeat(3_000_000));
      countTries(context, 'reach', planted);
    });
  });

  if (startWriter === undefined) return;
  const kills = tries({ check: 2, long: 500 });

  describe('while the process that writes is killed', () => {
    it(`a file has its old content or the new, and no trace is left, ${kills} kills`, async (context) => {
      const folder = join(w.inside, 'sub');
      const path = join(folder, 'file');
      let last = -1;
      for (let kill = 0; kill < kills; kill += 1) {
        const writer = startWriter(path, last + 1);
        context.onTestFinished(() => {
          writer.child.kill('SIGKILL');
        });
        while (writer.lines().length === 0 && writer.child.exitCode === null) {
          await new Promise((next) => setTimeout(next, 5));
        }
        await new Promise((next) => setTimeout(next, Math.random() * 20));
        writer.child.kill('SIGKILL');
        expect(await writer.ended).toMatchObject({ signal: 'SIGKILL', errors: '' });

        const acknowledged = Number(writer.lines().at(-1));
        const content = readFileSync(path, 'utf8');
        const written = Number.parseInt(content, 10);
        expect(content === contentOfTurn(written)).toBe(true);
        expect(written).toBeGreaterThanOrEqual(acknowledged);
        last = written;
      }
      expect(await w.view.list(folder)).toEqual(['file']);
      await w.view.write(join(folder, 'other'), 'x');
      expect(readdirSync(folder).sort()).toEqual(['file', 'other']);
      countTries(context, 'files', kills);
    });
  });
}
