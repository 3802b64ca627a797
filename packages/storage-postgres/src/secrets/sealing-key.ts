import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { EthosError } from '@ethosagent/types';

/** The fewest bytes of a key. */
const MIN_KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + ID_BYTES + NONCE_BYTES + TAG_BYTES;

/** Keys that encrypt values. Each value is bound to its name. */
export interface SealingKeys {
  /** Encrypts a value with the first key. */
  seal(name: string, value: string): Buffer;
  /**
   * Decrypts a value with the key with which it was sealed.
   *
   * @returns `undefined` for a value of another name or another key, or one that was changed
   */
  open(name: string, sealed: Buffer): string | undefined;
}

interface SealingKey {
  id: Buffer;
  bytes: Buffer;
}

/**
 * Makes sealing keys from one key or a list.
 * @throws `CONFIG_INVALID` for a key of less than 32 bytes, or no key; the message never contains a
 * key
 */
export function sealingKeys(given: unknown): SealingKeys {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const keys = list.map(sealingKey);
  const [newest] = keys;
  if (newest === undefined) throw weakKey();
  return {
    seal(name, value) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, newest.bytes, nonce, { authTagLength: TAG_BYTES });
      // Binds the value to its name: under another name it can't be opened.
      cipher.setAAD(Buffer.from(name));
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), newest.id, nonce, cipher.getAuthTag(), text]);
    },
    open(name, sealed) {
      if (sealed.length < HEAD_BYTES || sealed[0] !== VERSION) return undefined;
      const id = sealed.subarray(1, 1 + ID_BYTES);
      const nonce = sealed.subarray(1 + ID_BYTES, 1 + ID_BYTES + NONCE_BYTES);
      const tag = sealed.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES);
      const key = keys.find((each) => each.id.equals(id));
      if (key === undefined) return undefined;
      const cipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(name));
      cipher.setAuthTag(tag);
      try {
        const text = [cipher.update(sealed.subarray(HEAD_BYTES)), cipher.final()];
        return Buffer.concat(text).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

function sealingKey(given: unknown): SealingKey {
  const isKey = typeof given === 'string' || given instanceof Uint8Array;
  const bytes = isKey ? Buffer.from(given) : Buffer.of();
  if (bytes.length < MIN_KEY_BYTES) throw weakKey();
  const derive = (what: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `ethosagent secrets ${what}`, length));
  return { id: derive('id', ID_BYTES), bytes: derive(CIPHER, 32) };
}

function weakKey(): EthosError {
  return new EthosError(
    'CONFIG_INVALID',
    `createPostgresStores: secretsKey must have ${MIN_KEY_BYTES} bytes or more; make one with "openssl rand -hex 32"`,
  );
}
