import { EthosError, errorCodeOf, type OpenedStore, type StoreOpener } from '@ethosagent/types';
import { HOME_STORES } from './home-stores.js';
import type { OpenedResources } from './opened-resources.js';
import type { RuntimeStores, StoreSource, StoresByName } from './runtime-stores.js';
import { assertStore } from './store-shapes.js';

/** The stores of a runtime, and their state. */
export interface OpenStores extends StoresByName {
  /** Asks the stores what operators have to fix. Each answer has the name of its store. */
  problems(): Promise<Array<{ store: string; message: string }>>;
}

/**
 * Opens the stores of a runtime: those of the host, and for the others those of the home.
 *
 * @param opened receives each store that was opened here, even if a later one fails
 * @throws `CONFIG_INVALID` for an invalid store; the error of opening if it has a code, otherwise
 * `STORE_UNAVAILABLE`
 */
export async function openStores(
  home: string,
  given: RuntimeStores,
  opened: OpenedResources,
): Promise<OpenStores> {
  const watched: Array<{ store: string; problem: NonNullable<OpenedStore<unknown>['problem']> }> =
    [];
  async function open<Name extends keyof StoresByName>(
    name: Name,
    source: StoreSource<StoresByName[Name]> | undefined,
  ): Promise<StoresByName[Name]> {
    const store = await openStore(name, source, home);
    if (store.close !== undefined) opened.add(() => store.close?.());
    if (store.problem !== undefined)
      watched.push({ store: name, problem: () => store.problem?.() });
    assertStore(name, store.store);
    return store.store;
  }
  return {
    keyValue: await open('keyValue', given.keyValue),
    sessions: await open('sessions', given.sessions),
    storage: await open('storage', given.storage),
    attachments: await open('attachments', given.attachments),
    memory: await open('memory', given.memory),
    secrets: await open('secrets', given.secrets),
    async problems() {
      const found = await Promise.all(
        watched.map(async ({ store, problem }) => ({ store, message: await toldBy(problem) })),
      );
      return found.flatMap(({ store, message }) =>
        message === undefined ? [] : [{ store: `stores.${store}`, message }],
      );
    },
  };
}

/** Opens one store, of the host or of the home. @throws as `openStores` */
export async function openStore<Name extends keyof StoresByName>(
  name: Name,
  source: StoreSource<StoresByName[Name]> | undefined,
  home: string,
): Promise<OpenedStore<StoresByName[Name]>> {
  if (source === undefined) return HOME_STORES[name](home);
  if (!isOpener(source)) return { store: source };
  let opened: unknown;
  try {
    opened = await source.open();
  } catch (cause) {
    if (errorCodeOf(cause) !== undefined) throw cause;
    const problem = `stores.${name} could not be opened; check its server and its settings`;
    throw new EthosError('STORE_UNAVAILABLE', problem, { cause });
  }
  if (isOpened<StoresByName[Name]>(opened)) return opened;
  throw new EthosError('CONFIG_INVALID', `stores.${name}: open must give an object with a store`);
}

/**
 * The problem that a store reports. If the report itself fails, its error is dropped, since it may
 * contain a password.
 */
async function toldBy(
  problem: NonNullable<OpenedStore<unknown>['problem']>,
): Promise<string | undefined> {
  try {
    return await problem();
  } catch (error) {
    return `could not be checked (${errorCodeOf(error) ?? 'STORE_UNAVAILABLE'})`;
  }
}

function isOpener<T>(source: StoreSource<T>): source is StoreOpener<T> {
  return typeof source === 'object' && source !== null && typeof Object(source).open === 'function';
}

function isOpened<T>(value: unknown): value is OpenedStore<T> {
  return typeof value === 'object' && value !== null && 'store' in value;
}
