import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../../fuzz.js';
import {
  append,
  boundary,
  everyCall,
  openDescriptors,
  type StorageWorld,
} from './storage-world.js';

/** Attacks with files that are not regular files. Also tests what the calls leave behind. */
export function specialFileAttacks(w: StorageWorld): void {
  describe('for what is not a plain file', () => {
    const notAFile = expect.objectContaining({ code: 'NOT_A_FILE' });

    it('refuses a FIFO, a socket and a folder at once', async () => {
      const fifo = join(w.inside, 'fifo');
      execFileSync('mkfifo', [fifo]);
      const server = createServer();
      const socket = join(w.inside, 'socket');
      await new Promise<void>((done) => server.listen(socket, done));
      try {
        for (const path of [fifo, socket, join(w.inside, 'sub')]) {
          await expect(w.view.read(path)).rejects.toEqual(notAFile);
          await expect(w.view.readBytes(path)).rejects.toEqual(notAFile);
          await expect(w.view.write(path, 'x')).rejects.toEqual(notAFile);
          await expect(append(w.view, path, 'x')).rejects.toEqual(notAFile);
          expect(await w.view.exists(path)).toBe(true);
        }
      } finally {
        server.close();
      }
    });

    it('refuses a FIFO outside by the boundary, not by its kind', async () => {
      execFileSync('mkfifo', [join(w.outside, 'fifo')]);
      symlinkSync(join(w.outside, 'fifo'), join(w.inside, 'link'));
      await expect(w.view.read(join(w.inside, 'link'))).rejects.toEqual(boundary);
    });

    it('refuses a sparse file of 1 TB', async () => {
      const path = join(w.inside, 'huge');
      const tooLarge = expect.objectContaining({ code: 'FILE_TOO_LARGE' });
      writeFileSync(path, '');
      truncateSync(path, 2 ** 40);
      await expect(w.view.read(path)).rejects.toEqual(tooLarge);
      await expect(w.view.readBytes(path)).rejects.toEqual(tooLarge);
    });
  });

  describe('at rest', () => {
    it('leaves no descriptor behind, whether calls succeed or fail', async () => {
      symlinkSync(w.outside, join(w.inside, 'link'));
      symlinkSync('loop', join(w.inside, 'loop'));
      execFileSync('mkfifo', [join(w.inside, 'fifo')]);
      writeFileSync(join(w.inside, 'large'), Buffer.alloc(300_000));
      const paths = ['file', 'none', 'none/none', 'sub', 'link', 'link/x', 'loop', 'fifo', 'large'];
      const before = openDescriptors();
      for (let round = 0; round < 3; round += 1) {
        for (const path of [...paths.map((name) => join(w.inside, name)), w.outside, w.base]) {
          const calls = Object.values(everyCall(w.view, path, w.inside)).map((call) => call());
          await Promise.allSettled(calls);
        }
      }
      expect(openDescriptors()).toBe(before);
    });

    const segments = ['..', '.', '', 'out', 'up', 'in', 'sub', 'top', 'file', 'secret', 'database'];
    fuzz(
      'reads and writes nothing outside, for any path made of tricky segments',
      fc.array(fc.constantFrom(...segments), { maxLength: 7 }),
      async (parts) => {
        plantLinks(w);
        const path = `${w.inside}/${parts.join('/')}`;
        const read = await w.view.read(path).catch(() => null);
        expect(read).not.toBe('SECRET');
        await w.view.write(path, 'hello').catch(() => undefined);
        await append(w.view, path, 'x').catch(() => undefined);
        expect(readdirSync(w.base).sort()).toEqual(['data', 'database', 'home']);
        expect(readdirSync(w.outside).sort()).toEqual(['dir', 'secret']);
        expect(readdirSync(join(w.outside, 'dir'))).toEqual(['secret']);
        for (const secret of [join(w.outside, 'secret'), join(w.outside, 'dir', 'secret')]) {
          expect(readFileSync(secret, 'utf8')).toBe('SECRET');
        }
      },
      { promised: 'reach', runs: { check: 20, long: 20_000 } },
    );

    it('names the path asked for and nothing behind it in a denial', async () => {
      symlinkSync(join(w.outside, 'secret'), join(w.inside, 'link'));
      const asked = join(w.inside, 'link');
      await expect(w.view.read(asked)).rejects.toMatchObject({
        message: `PATH_NOT_REACHABLE: read not permitted for ${asked}`,
        kind: 'read',
        path: asked,
      });
    });
  });
}

/** Creates links that lead out of the reach, upwards, and back into it. */
function plantLinks(w: StorageWorld): void {
  if (existsSync(join(w.inside, 'out'))) return;
  symlinkSync(w.outside, join(w.inside, 'out'));
  symlinkSync('..', join(w.inside, 'up'));
  symlinkSync('sub', join(w.inside, 'in'));
  symlinkSync(w.base, join(w.inside, 'sub', 'top'));
}
