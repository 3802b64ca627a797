import { type ErrorCode, errorCodeOf, type ScopedFs } from '@ethosagent/types';
import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

/** The content of a configuration file. */
export type ConfigDocument = Readonly<Record<string, unknown>>;

const document = z.record(z.string(), z.unknown());

/** Errors for which the search treats a file as missing. */
const ABSENT: ReadonlySet<ErrorCode> = new Set([
  'PATH_NOT_REACHABLE',
  'FILE_NOT_FOUND',
  'NOT_A_FILE',
  'NOT_A_DIRECTORY',
  'FILE_TOO_LARGE',
  'PATH_INVALID',
  'PERMISSION_DENIED',
]);

/**
 * How many characters a file may have. A longer one counts as missing: to parse it would keep the
 * host busy, and no project needs it.
 */
const MAX_CHARS = 2_000_000;

/** Reads and parses the files of a project that are in reach, each file once. */
export class ProjectFiles {
  readonly #fs: ScopedFs;
  readonly #documents = new Map<string, Promise<ConfigDocument | undefined>>();
  readonly #names = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  readonly #texts = new Map<string, Promise<string | undefined>>();

  constructor(fs: ScopedFs) {
    this.#fs = fs;
  }

  /** Finds out what is at a path. @throws `PATH_NOT_REACHABLE` when it is out of reach */
  async kindOf(path: string): Promise<'file' | 'folder' | 'nothing'> {
    if (!(await this.#fs.exists(path))) return 'nothing';
    try {
      await this.#fs.readBytes(path);
      return 'file';
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === 'NOT_A_FILE') return 'folder';
      if (code === 'FILE_TOO_LARGE') return 'file';
      throw error;
    }
  }

  /** Throws for a path that is out of reach. @throws `PATH_NOT_REACHABLE` */
  async assertInReach(path: string): Promise<void> {
    await this.#fs.exists(path);
  }

  /**
   * Lists the names in a folder; `undefined` when it can't be read, e.g. because it is out of
   * reach.
   */
  names(folder: string): Promise<ReadonlySet<string> | undefined> {
    return remembered(this.#names, folder, async () => {
      const names = await ifThere(() => this.#fs.list(folder));
      return names && new Set(names);
    });
  }

  text(path: string): Promise<string | undefined> {
    return remembered(this.#texts, path, async () => {
      const text = await ifThere(() => this.#fs.read(path));
      return text === undefined || text.length > MAX_CHARS ? undefined : text;
    });
  }

  /** Reads a JSON file, which may have comments; `undefined` when it is missing or invalid. */
  json(path: string): Promise<ConfigDocument | undefined> {
    return this.#document(path, (text) => parseJsonc(text));
  }

  toml(path: string): Promise<ConfigDocument | undefined> {
    return this.#document(path, (text) => parseToml(text));
  }

  yaml(path: string): Promise<ConfigDocument | undefined> {
    return this.#document(path, (text) => parseYaml(text));
  }

  exists(path: string): Promise<boolean> {
    return ifThere(() => this.#fs.exists(path)).then((found) => found === true);
  }

  #document(path: string, parse: (text: string) => unknown): Promise<ConfigDocument | undefined> {
    return remembered(this.#documents, path, async () => {
      const text = await this.text(path);
      if (text === undefined) return undefined;
      try {
        return document.safeParse(parse(text)).data;
      } catch {
        return undefined;
      }
    });
  }
}

/** Returns a part of a document, if that part is an object. */
export function partOf(value: unknown, ...keys: readonly string[]): ConfigDocument | undefined {
  let at = document.safeParse(value);
  for (const key of keys) at = document.safeParse(at.data?.[key]);
  return at.data;
}

async function ifThere<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== undefined && ABSENT.has(code)) return undefined;
    throw error;
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, look: () => Promise<T>) {
  const found = known.get(key) ?? look();
  known.set(key, found);
  return found;
}
