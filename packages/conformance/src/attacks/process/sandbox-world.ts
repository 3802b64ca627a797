import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** A temporary folder with a reach in it, and secrets beside the reach. */
export class SandboxWorld {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-world-')));
  /** The content of every file that must not be read. */
  readonly secret = `secret-${randomUUID()}`;
  readonly reach = {
    read: [join(this.root, 'read')],
    write: [join(this.root, 'write')],
    deny: [join(this.root, 'write/deep/floor'), join(this.root, 'write/missing')],
  };
  #before: unknown;

  constructor() {
    beforeAll(() => {
      for (const folder of ['read', 'write/deep/floor', 'write/open', 'outside']) {
        mkdirSync(join(this.root, folder), { recursive: true });
      }
      writeFileSync(join(this.root, 'read/file'), 'readable');
      writeFileSync(join(this.root, 'outside/secret'), this.secret);
      writeFileSync(join(this.root, 'write/deep/floor/secret'), this.secret);
      symlinkSync(join(this.root, 'outside'), join(this.root, 'write/open/link'));
      symlinkSync('../../outside', join(this.root, 'write/open/relative'));
      this.#before = this.#guarded();
    });
    afterAll(() => rmSync(this.root, { recursive: true, force: true }));
  }

  /** Returns forbidden changes, in words; empty if there are none. */
  damage(): string[] {
    const now = this.#guarded();
    return JSON.stringify(now) === JSON.stringify(this.#before)
      ? []
      : [`was ${JSON.stringify(this.#before)}, is ${JSON.stringify(now)}`];
  }

  #guarded(): unknown {
    return {
      outside: readdirSync(join(this.root, 'outside')),
      read: readdirSync(join(this.root, 'read')),
      floor: readdirSync(join(this.root, 'write/deep/floor')),
      file: readFileSync(join(this.root, 'read/file'), 'utf8'),
      secrets: ['outside/secret', 'write/deep/floor/secret'].map(
        (path) => readFileSync(join(this.root, path), 'utf8') === this.secret,
      ),
      missing: existsSync(join(this.root, 'write/missing')),
    };
  }
}
