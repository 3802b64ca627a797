import { dirname } from 'node:path';
import { withFileLock } from '@ethosagent/file-lock';
import {
  assertOptions,
  DEFAULT_MEMORY_LIMITS,
  type OptionNames,
  searchMemory,
} from '@ethosagent/policy';
import { EthosError, errorCodeOf, type MemoryProvider } from '@ethosagent/types';
import { storageError } from './errno.js';
import { realLocation } from './follow-links.js';
import { FsStorage } from './fs-storage.js';
import type { MemoryFile } from './memory-file.js';
import { memoryPaths } from './memory-paths.js';

export interface MarkdownMemoryOptions {
  /**
   * The absolute path of the folder of the files. It is created when it is needed. Give either
   * `dir` or `fileOf`.
   */
  dir?: string;
  /** Returns the absolute path of a memory's file, e.g. in the folder of a personality. */
  fileOf?: (scopeId: string) => string;
  /** The most characters of a section's text. 20,000 when absent. */
  maxSectionChars?: number;
  /** The most characters of a memory, with its headings and texts. 1,000,000 when absent. */
  maxDocumentChars?: number;
  /** The number of replaced versions that are kept of a memory. 20 when absent. */
  maxVersions?: number;
  /** Milliseconds that a change waits for a change of another process. 10,000 when absent. */
  lockWaitMs?: number;
  /** Returns milliseconds since the epoch. `Date.now` when absent. */
  clock?: () => number;
}

const MAX_TRIES = 100;
const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 200;

const OPTIONS: OptionNames<MarkdownMemoryOptions> = {
  dir: true,
  fileOf: true,
  maxSectionChars: true,
  maxDocumentChars: true,
  maxVersions: true,
  lockWaitMs: true,
  clock: true,
};

/**
 * Keeps memories as Markdown files, which people can edit too. Each section is a heading `## …` and
 * the text below it. A change keeps all other text byte for byte, and also keeps what a person
 * edited meanwhile.
 *
 * @param options the folder or the path of each memory, and limits in characters
 * @returns the provider; its methods also throw `VALUE_INVALID` for a text that would open or hide
 * a section of the file
 * @throws `CONFIG_INVALID` if not exactly one of `dir` and `fileOf` is given, if `dir` is not
 * absolute, or if a limit is not a whole number
 * @example
 * const memory = createMarkdownMemory({ dir: '/var/lib/agent/memory' });
 * await memory.change('global', { kind: 'add', section: 'Tastes', text: 'Tea, no sugar.' });
 * // /var/lib/agent/memory/global.md: ## Tastes …
 */
export function createMarkdownMemory(options: MarkdownMemoryOptions): MemoryProvider {
  assertOptions('createMarkdownMemory', options, OPTIONS);
  const pathOf = memoryPaths(options);
  const limits = {
    maxSectionChars: whole(options, 'maxSectionChars', DEFAULT_MEMORY_LIMITS.maxSectionChars),
    maxDocumentChars: whole(options, 'maxDocumentChars', DEFAULT_MEMORY_LIMITS.maxDocumentChars),
  };
  const maxVersions = whole(options, 'maxVersions', 20);
  const lockWaitMs = whole(options, 'lockWaitMs', 10_000);
  const rules = { limits, maxVersions, clock: options.clock ?? (() => Date.now()) };
  // A person may have written more than a tool may write. A character takes up to four bytes.
  const disk = new FsStorage({ maxReadBytes: limits.maxDocumentChars * 8 + 100_000 });

  function fileOf(scopeId: string): MemoryFile {
    const asked = pathOf(scopeId);
    const folder = dirname(asked);
    // A link is followed only within the folder.
    return { path: asked, storage: disk.contained({ read: [folder], write: [folder] }) };
  }

  return {
    read: (scopeId) =>
      guarded(async () => {
        const file = fileOf(scopeId);
        return (await loadMarkdown()).readMemory(file);
      }),
    change: (scopeId, change, opts) =>
      guarded(async () => {
        const { path: asked, storage } = fileOf(scopeId);
        const { changeMemory } = await loadMarkdown();
        // Checks the path and its links before anything is created beside it.
        await storage.exists(asked);
        await storage.mkdir(dirname(asked), { mode: 0o700 });
        const file = { path: realLocation(asked), storage };
        return withFileLock(file.path, { waitMs: lockWaitMs }, async () => {
          for (let turn = 0; turn < MAX_TRIES; turn += 1) {
            const changed = await changeMemory(file, change, {
              ...rules,
              expectedRevision: opts?.expectedRevision,
            });
            if (changed !== undefined) return changed;
          }
          throw new EthosError(
            'STORE_UNAVAILABLE',
            'another program keeps writing the memory file',
          );
        });
      }),
    search: (scopeId, query, opts) =>
      guarded(async () => {
        const file = fileOf(scopeId);
        const limit = countOf(opts?.limit, DEFAULT_MATCHES, MAX_MATCHES);
        const { sections } = await (await loadMarkdown()).readMemory(file);
        return searchMemory(sections, query, limit);
      }),
    versions: (scopeId, opts) =>
      guarded(async () => {
        const { path, storage } = fileOf(scopeId);
        await storage.exists(path);
        const limit = countOf(opts?.limit, maxVersions, maxVersions);
        const { readVersions } = await loadMarkdown();
        return readVersions(storage, realLocation(path), limit);
      }),
  };
}

/** Loads the parser at its first use, since it is expensive to load. */
async function loadMarkdown() {
  const { readMemory, changeMemory } = await import('./memory-file.js');
  const { readVersions } = await import('./memory-versions.js');
  return { readMemory, changeMemory, readVersions };
}

/** Turns failures of the disk into failures of the store, without paths. */
async function guarded<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const told = storageError(error, 'use', 'the memory file');
    const code = errorCodeOf(told);
    if (code === undefined || OWN_CODES.has(code)) throw told;
    if (code === 'FILE_TOO_LARGE') {
      throw new EthosError(
        'MEMORY_TOO_LARGE',
        'the memory file is far too large; shorten it by hand',
      );
    }
    throw new EthosError(
      'STORE_UNAVAILABLE',
      `the memory file could not be used (${code}); check its folder, its owner and its mode`,
      { cause: error },
    );
  }
}

const OWN_CODES: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  'KEY_INVALID',
  'VALUE_INVALID',
  'MEMORY_NOT_FOUND',
  'MEMORY_AMBIGUOUS',
  'MEMORY_TOO_LARGE',
  'MEMORY_CHANGED',
  'STORE_UNAVAILABLE',
]);

type NumberOption = 'maxSectionChars' | 'maxDocumentChars' | 'maxVersions' | 'lockWaitMs';

function whole(options: MarkdownMemoryOptions, name: NumberOption, fallback: number): number {
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && value > 0 && value <= 100_000_000) return value;
  throw new EthosError(
    'CONFIG_INVALID',
    `createMarkdownMemory: ${name} must be a whole number from 1 to 100,000,000`,
  );
}

function countOf(value: number | undefined, fallback: number, max: number): number {
  const count = value ?? fallback;
  if (Number.isInteger(count) && count >= 0) return Math.min(count, max);
  throw new EthosError('VALUE_INVALID', 'limit is a whole number from 0');
}
