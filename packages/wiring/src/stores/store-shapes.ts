import { EthosError } from '@ethosagent/types';
import type { StoresByName } from './runtime-stores.js';

/** The methods that each store must have. A key-value store is a function. */
const METHODS: Readonly<Record<Exclude<keyof StoresByName, 'keyValue'>, readonly string[]>> = {
  storage: ['read', 'write', 'exists', 'list'],
  attachments: ['put', 'get'],
  memory: ['read', 'change', 'search', 'versions'],
  sessions: ['append', 'get', 'list', 'messages', 'search', 'delete'],
  secrets: ['get'],
};

const NAMES: ReadonlySet<string> = new Set(['keyValue', ...Object.keys(METHODS)]);

/** @throws `CONFIG_INVALID` for something that is not a store */
export function assertStore(name: keyof StoresByName, store: unknown): void {
  if (name === 'keyValue') {
    if (typeof store === 'function') return;
    throw invalidStore(name, 'it must be a function of a tool and a scope id');
  }
  const missing = METHODS[name].filter((method) => typeof Object(store)[method] !== 'function');
  if (missing.length > 0) throw invalidStore(name, `it has no ${missing.join(', ')}`);
}

/** @throws `CONFIG_INVALID` for unknown names of stores */
export function assertStoreNames(stores: unknown): void {
  if (typeof stores !== 'object' || stores === null || Array.isArray(stores)) {
    throw new EthosError('CONFIG_INVALID', 'stores must be an object; leave it out for the home');
  }
  const unknown = Object.keys(stores).filter((name) => !NAMES.has(name));
  if (unknown.length === 0) return;
  const problem = `stores: there is no ${unknown.join(', ')}; there are ${[...NAMES].join(', ')}`;
  throw new EthosError('CONFIG_INVALID', problem);
}

function invalidStore(name: string, problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', `stores.${name} is not a store: ${problem}`);
}
