import { EthosError } from '@ethosagent/types';
import type { AccessScope, Allow } from '../access.js';
import type { Settle } from './store-meter.js';

/** The value that a write leaves at a key; `null` for a removal. */
export interface EntryWrite {
  namespace: string;
  key: string;
  value: string | null;
}

/**
 * Lets a write of a key-value entry begin once there is room for it, and counts what it leaves. If
 * the write fails or resolves to `false`, the old entry still counts.
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
      // With the length in front, a namespace and a key can't be mistaken for another pair.
      settle = scope.spendStore(`${namespace.length}:${namespace}${key}`, bytes);
    });
    const result = await run();
    wasWritten = result !== false;
    return result;
  } finally {
    settle?.(wasWritten);
  }
}
