import { constants } from 'node:os';

/**
 * The variables that `secret-tool` needs to find the keychain of this user, and to ask for its
 * password.
 */
const PASSED = [
  'PATH',
  'HOME',
  'LANG',
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
];

/** Long enough for a person to unlock the keychain. */
const TIMEOUT_MS = 120_000;

export interface KeychainItem {
  /** The home that the item belongs to. */
  owner: string;
  ref: string;
}

/** An error of the keychain. Its message says why, and contains no value. */
export class KeychainError extends Error {}

/**
 * The keychain of a Linux desktop (GNOME Keyring, KWallet and others with the Secret Service
 * protocol), through `secret-tool` of libsecret. Values are passed on its standard input, never as
 * arguments.
 */
export class Keychain {
  readonly #env: Record<string, string>;
  readonly #timeoutMs: number;

  constructor(env: Readonly<Record<string, string | undefined>>, timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
    this.#env = Object.fromEntries(
      PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
    );
  }

  /** Whether a keychain answers this process. */
  async isThere(): Promise<boolean> {
    if (process.platform !== 'linux') return false;
    try {
      return (await this.get({ owner: 'none', ref: 'none' })) === undefined;
    } catch (error) {
      if (error instanceof KeychainError) return false;
      throw error;
    }
  }

  /**
   * Returns the value of an item; `undefined` if there is none.
   * @throws {KeychainError} if the keychain does not answer
   */
  async get(item: KeychainItem): Promise<string | undefined> {
    const { code, output, complaint } = await this.#run(['lookup', ...attributesOf(item)]);
    if (code === 0) return output;
    // Without an item, `secret-tool` writes no message.
    if (code === 1 && complaint === '') return undefined;
    throw new KeychainError(complaint);
  }

  /**
   * Stores the value of an item.
   * @throws {KeychainError} if the keychain does not store exactly this value
   */
  async set(item: KeychainItem, value: string): Promise<void> {
    const label = `--label=ethosagent ${item.ref} of ${item.owner}`;
    const { code, complaint } = await this.#run(['store', label, ...attributesOf(item)], value);
    if (code !== 0) throw new KeychainError(complaint);
    if ((await this.get(item)) === value) return;
    await this.delete(item);
    // The keychain shortens long values without an error.
    throw new KeychainError('it does not keep this value whole, as one that is too long');
  }

  /**
   * Removes an item, if there is one.
   * @throws {KeychainError} if the keychain does not answer
   */
  async delete(item: KeychainItem): Promise<void> {
    const { code, complaint } = await this.#run(['clear', ...attributesOf(item)]);
    if (code !== 0 && complaint !== '') throw new KeychainError(complaint);
  }

  async #run(
    args: readonly string[],
    input = '',
  ): Promise<{ code: number; output: string; complaint: string }> {
    // Few programs ask a keychain, and these two take 9 ms to load.
    const { spawn } = await import('node:child_process');
    const { text } = await import('node:stream/consumers');
    return new Promise((resolve, reject) => {
      const child = spawn('secret-tool', args, {
        env: this.#env,
        // The option `timeout` would keep this process alive where there is no such program.
        signal: AbortSignal.timeout(this.#timeoutMs),
        killSignal: 'SIGKILL',
      });
      child.once('error', ({ name, code = 'unknown' }: NodeJS.ErrnoException) => {
        const why =
          name === 'AbortError' ? 'no answer in time' : `secret-tool does not start (${code})`;
        reject(new KeychainError(why));
      });
      // The program may have ended without reading its input.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
      child.once('close', (code, signal) => {
        outputs.then(([output, complaint]) => {
          const said = complaint.trim().split('\n').at(-1) ?? '';
          const number = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
          resolve({
            code: number,
            output,
            complaint: signal === null ? said : `ended by ${signal}`,
          });
        }, reject);
      });
    });
  }
}

function attributesOf({ owner, ref }: KeychainItem): string[] {
  return ['application', 'ethosagent', 'home', owner, 'ref', ref];
}
