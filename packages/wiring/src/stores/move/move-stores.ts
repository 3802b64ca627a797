import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createAttachmentCache, createFileSecrets } from '@ethosagent/storage-fs';
import { EthosError, type SecretStore } from '@ethosagent/types';
import { createHomeMemory } from '../../home-memory.js';
import { openStore } from '../open-stores.js';
import { OpenedResources } from '../opened-resources.js';
import type { RuntimeStores, StoreSource, StoresByName } from '../runtime-stores.js';
import { assertStore } from '../store-shapes.js';
import { moveAttachments, moveSecrets } from './move-files.js';
import type { Move } from './move-item.js';
import { moveKeyValue } from './move-key-value.js';
import { moveMemory } from './move-memory.js';
import { moveSessions } from './move-sessions.js';
import { type MovedStore, runMove } from './run-move.js';

/** The options of `moveStores`. */
export interface MoveStoresOptions {
  /** The home whose state is copied. Nothing is removed from it. */
  home: string;
  /** The stores that receive the copy. State of a store that is absent here stays in the home. */
  to: RuntimeStores;
  /** Whether an item that differs in the store is replaced. `false` when absent: it stays. */
  replace?: boolean;
  /** Stops the move between two items. The next run continues it. */
  signal?: AbortSignal;
  /** Called with the number of items of a store that have been processed. */
  onProgress?: (store: string, done: number) => void;
}

/** The outcome of a move. */
export interface MoveReport {
  /**
   * Whether every item is in its store with the same content, read back from there, and no memory
   * file without a known owner is left.
   */
  ok: boolean;
  stores: readonly MovedStore[];
  /**
   * What stays in the home, and why. Memory files of an owner without a session stay too, since
   * their owner is not known; then the report is not `ok`.
   */
  stays: readonly string[];
}

/**
 * Copies the state of a home to other stores, and reads everything back to compare it. If it was
 * interrupted, run it again, and it continues. Stop the agent first: what it writes during the copy
 * may be missing, and then the report is not `ok`.
 *
 * @param options the home, the stores, and a signal
 * @returns what was copied, and what differs
 * @throws `CONFIG_INVALID` if there is no store to move to
 * @throws `CALL_ABORTED` if the signal fires
 * @throws `STORE_UNAVAILABLE` and other codes of the stores
 */
export async function moveStores(options: MoveStoresOptions): Promise<MoveReport> {
  const { home, to, replace = false, signal, onProgress } = options;
  const opened = new OpenedResources();
  try {
    const moves = await openMoves(home, to, opened);
    const stores: MovedStore[] = [];
    for (const [store, move] of moves) {
      stores.push(await runMove(store, move, { replace, signal, onProgress }));
    }
    const left = to.memory === undefined ? 0 : await unnamedMemories(home, stores);
    return {
      ok: left === 0 && stores.every(({ verified }) => verified),
      stores,
      stays: [
        'the audit log',
        'personalities, mcp.json and ethos.config.mjs',
        ...(to.memory === undefined ? [] : ['replaced versions of memories']),
        ...(to.secrets === undefined
          ? ['secrets and tokens: no key to encrypt them was given']
          : []),
        ...(left === 0
          ? []
          : [
              `${left} files in ${join(home, 'memory')} of owners that no session names: move them by hand`,
            ]),
      ],
    };
  } finally {
    await opened.close();
  }
}

async function openMoves(
  home: string,
  to: RuntimeStores,
  opened: OpenedResources,
): Promise<[store: string, move: Move][]> {
  async function open<Name extends keyof StoresByName>(
    name: Name,
    source: StoreSource<StoresByName[Name]>,
  ): Promise<StoresByName[Name]> {
    const { store, close } = await openStore(name, source, home);
    if (close !== undefined) opened.add(() => close());
    assertStore(name, store);
    return store;
  }
  const { keyValue, sessions, memory, attachments, secrets } = to;
  const moves: [string, Move][] = [];
  const sqlite = await openSqlite(home, opened);
  if (keyValue !== undefined) {
    const target = await open('keyValue', keyValue);
    moves.push(['keyValue', moveKeyValue(() => sqlite.entries?.() ?? nothing(), target)]);
  }
  if (sessions !== undefined) {
    const target = await open('sessions', sessions);
    if (sqlite.sessions !== undefined) {
      moves.push(['sessions', moveSessions(sqlite.sessions, target)]);
    }
  }
  if (memory !== undefined) {
    const target = await open('memory', memory);
    const scopeIds = () => memoryScopes(home, sqlite.sessions);
    moves.push(['memory', moveMemory(scopeIds, { from: createHomeMemory(home), to: target })]);
  }
  if (attachments !== undefined) {
    const folder = join(home, 'attachments');
    const from = createAttachmentCache({ dir: folder });
    const target = await open('attachments', attachments);
    moves.push(['attachments', moveAttachments(folder, { from, to: target })]);
  }
  if (secrets !== undefined) {
    const from = createFileSecrets({ dir: join(home, 'secrets') });
    moves.push(['secrets', moveSecrets(from, storable(await open('secrets', secrets)))]);
  }
  if (moves.length > 0) return moves;
  throw new EthosError('CONFIG_INVALID', 'there is no store to move to; give one');
}

/** Opens the files of the home, if they exist. */
async function openSqlite(home: string, opened: OpenedResources) {
  const { createSqliteKvStore, createSqliteSessionStore } = await import(
    '@ethosagent/storage-sqlite'
  );
  const [kvPath, path] = [join(home, 'state.sqlite'), join(home, 'sessions.sqlite')];
  const keyValue = (await isThere(kvPath)) ? createSqliteKvStore({ path: kvPath }) : undefined;
  if (keyValue !== undefined) opened.add(keyValue.close);
  const sessions = (await isThere(path)) ? createSqliteSessionStore({ path }) : undefined;
  if (sessions !== undefined) opened.add(sessions.close);
  return { entries: keyValue?.entries, sessions };
}

function storable(secrets: SecretStore): Required<SecretStore> {
  const { set, delete: remove, list } = secrets;
  if (set !== undefined && remove !== undefined && list !== undefined) {
    return { ...secrets, set, delete: remove, list };
  }
  throw new EthosError(
    'CONFIG_INVALID',
    'no secrets can be stored in stores.secrets; leave it out',
  );
}

/** The scopes that may have a memory: the global one, personalities, and the owners of sessions. */
async function* memoryScopes(
  home: string,
  sessions: { ids(): AsyncIterable<string>; get(id: string): Promise<object | null> } | undefined,
): AsyncGenerator<string, void, undefined> {
  const seen = new Set(['global']);
  for (const id of await namesIn(join(home, 'personalities'))) seen.add(`personality:${id}`);
  for await (const id of sessions?.ids() ?? nothing()) {
    const { scopeId, userScopeId, teamId }: Record<string, unknown> = Object(
      await sessions?.get(id),
    );
    if (typeof scopeId === 'string') seen.add(scopeId);
    if (typeof userScopeId === 'string') seen.add(userScopeId).add(`user:${userScopeId}`);
    if (typeof teamId === 'string') seen.add(teamId).add(`team:${teamId}`);
  }
  yield* [...seen].filter((id) => id !== '').sort();
}

/** How many memories of the home belong to no known scope. */
async function unnamedMemories(home: string, stores: readonly MovedStore[]): Promise<number> {
  const shared = join(home, 'memory');
  const personalities = join(home, 'personalities');
  const files = [
    ...(await namesIn(shared))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(shared, name)),
    ...(await namesIn(personalities)).map((id) => join(personalities, id, 'memory.md')),
  ];
  const memories = (await Promise.all(files.map(hasText))).filter(Boolean).length;
  const moved = stores.find(({ store }) => store === 'memory')?.items ?? 0;
  return Math.max(0, memories - moved);
}

/** Whether a file has text. One from which a memory was removed has none. */
async function hasText(file: string): Promise<boolean> {
  if (!(await isThere(file))) return false;
  return (await readFile(file, 'utf8').catch(() => 'unreadable')).trim() !== '';
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(Object(error).code)) return [];
    throw error;
  });
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}
