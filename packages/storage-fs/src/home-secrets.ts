import { join } from 'node:path';
import { assertOptions, compareCodePoints, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { createFileSecrets, type FileSecrets } from './file-secrets.js';
import { Keychain, KeychainError } from './keychain.js';
import { secretError } from './secret-error.js';

/** The place of a secret of a home: a file in the home, or the keychain of the system. */
export type SecretPlace = 'file' | 'keychain';

/** Options of `createHomeSecrets`. */
export interface HomeSecretsOptions {
  /** The absolute path of the home. */
  home: string;
  /** The environment that `secret-tool` needs to find the keychain, e.g. `process.env`. */
  env: Readonly<Record<string, string | undefined>>;
}

/** The secrets of a home. */
export interface HomeSecrets extends FileSecrets {
  /**
   * Stores a value in `place`. When `place` is absent, stores it where the secret is, or in a file
   * if there is no such secret.
   * @throws `SECRETS_UNAVAILABLE` if the keychain does not answer, or can't store the value
   */
  set(ref: string, value: string, place?: SecretPlace): Promise<void>;
  /** Returns the place of a secret; `undefined` if there is no such secret. */
  placeOf(ref: string): Promise<SecretPlace | undefined>;
  /** Whether the system has a keychain that answers this process. */
  hasKeychain(): Promise<boolean>;
}

const OPTIONS: OptionNames<HomeSecretsOptions> = {
  home: true,
  env: true,
};

/**
 * Opens the secrets of a home. They are files `<home>/secrets/<ref>`, and items in the keychain of
 * the system, for each of which there is a file `<home>/keychain/<ref>`. If a ref has both, the
 * secret file is used.
 *
 * The keychain is that of a Linux desktop, through `secret-tool`. If it does not answer, `get`
 * throws `SECRETS_UNAVAILABLE`.
 *
 * @param options the home, and the environment for `secret-tool`
 * @returns the secrets
 */
export function createHomeSecrets(options: HomeSecretsOptions): HomeSecrets {
  assertOptions('createHomeSecrets', options, OPTIONS);
  const { home, env } = options;
  const files = createFileSecrets({ dir: join(home, 'secrets') });
  // Each file records the path of the home at which its item was stored, since a home can be moved.
  const owners = createFileSecrets({ dir: join(home, 'keychain') });
  const keychain = new Keychain(env);

  const itemOf = async (ref: string) => ({
    ref,
    owner: (await owners.has(ref)) ? await owners.get(ref) : home,
  });
  const placeOf = async (ref: string): Promise<SecretPlace | undefined> => {
    if (await files.has(ref)) return 'file';
    return (await owners.has(ref)) ? 'keychain' : undefined;
  };
  const forget = async (ref: string) => {
    if (!(await owners.has(ref))) return;
    await asked(ref, keychain.delete(await itemOf(ref)));
    await owners.delete(ref);
  };

  return {
    placeOf,
    hasKeychain: () => keychain.isThere(),
    has: async (ref) => (await placeOf(ref)) !== undefined,
    async get(ref) {
      if ((await placeOf(ref)) !== 'keychain') return files.get(ref);
      const value = await asked(ref, keychain.get(await itemOf(ref)));
      if (value !== undefined) return value;
      throw secretError(ref, 'the keychain has no value for it any more; store it again');
    },
    async set(ref, value, place) {
      if ((place ?? (await placeOf(ref)) ?? 'file') === 'file') {
        await files.set(ref, value);
        await forget(ref);
        return;
      }
      const item = await itemOf(ref);
      await asked(ref, keychain.set(item, value));
      await owners.set(ref, item.owner);
      await files.delete(ref);
    },
    async delete(ref) {
      await forget(ref);
      await files.delete(ref);
    },
    async list() {
      const refs = new Set([...(await files.list()), ...(await owners.list())]);
      return [...refs].sort(compareCodePoints);
    },
  };
}

/** Waits for an answer of the keychain. Its errors never contain a value. */
async function asked<T>(ref: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    if (!(cause instanceof KeychainError)) throw cause;
    throw new EthosError(
      'SECRETS_UNAVAILABLE',
      `${ref}: the keychain of the system can not be used (${cause.message}); use the desktop session of its user, or a file: ethosagent secrets set ${ref} --file`,
      { cause },
    );
  }
}
