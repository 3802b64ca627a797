import { EthosError } from '@ethosagent/types';
import type { AccessScope, Allow } from '../access.js';
import type { Settle } from './store-meter.js';

/** What a write leaves at a key; `null` for nothing. */
export interface EntryWrite {
  namespace: string;
  key: string;
  value: string | null;
}

/**
 * Lets a write of a key-value entry begin when its room can be had, and counts what it leaves. A
 * write that fails, or comes to `false`, leaves what was there.
 *
 * @throws `QUOTA_EXCEEDED`; `KEY_INVALID`, `VALUE_INVALID` for what has no length in bytes
 */
export async function writeEntry<T>(
  { scope, allow }: { scope: Pick<AccessScope, 'spendStore'>; allow: Allow },
  { namespace, key, value }: EntryWrite,
  run: () => Promise<T>,
): Promise<T> {
  if (typeof key !== 'string') throw new EthosError('KEY_INVALID', 'a key is a string');
  if (value !== null && typeof value !== 'string') {
    throw new EthosError('VALUE_INVALID', 'a value is a string');
  }
  const bytes = value === null ? 0 : Buffer.byteLength(key) + Buffer.byteLength(value);
  let settle: Settle | undefined;
  let wasWritten = false;
  try {
    allow(() => {
      // The length tells where the key begins.
      settle = scope.spendStore(`${namespace.length}:${namespace}${key}`, bytes);
    });
    const result = await run();
    wasWritten = result !== false;
    return result;
  } finally {
    settle?.(wasWritten);
  }
}
