import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A real folder of one test. Paths are relative to `dir`. */
export interface TestFolder {
  /** What holds the others. */
  readonly base: string;
  /** The folder that a test gives its tools. */
  readonly dir: string;
  /** A folder beside it. */
  readonly outside: string;
  /** Writes a file, and makes the folders above it. */
  put(path: string, content: string | Uint8Array, mode?: number): void;
  get(path: string): string;
  bytes(path: string): Buffer;
  has(path: string): boolean;
  /** Removes all of it; e.g. for `onTestFinished`. */
  remove(): void;
}

/** Makes a temporary folder, by its real path. */
export function createTestFolder(name: string): TestFolder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)));
  const dir = join(base, 'work');
  const outside = join(base, 'outside');
  for (const folder of [dir, outside]) mkdirSync(folder);
  const at = (path: string) => join(dir, path);
  return {
    base,
    dir,
    outside,
    put(path, content, mode = 0o644) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      chmodSync(at(path), mode);
    },
    get: (path) => readFileSync(at(path), 'utf8'),
    bytes: (path) => readFileSync(at(path)),
    has: (path) => existsSync(at(path)),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
