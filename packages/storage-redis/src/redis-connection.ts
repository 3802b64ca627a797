// Imported by name, so that a test's fake timers don't stop the store.
import { clearTimeout, setTimeout } from 'node:timers';
import { EthosError } from '@ethosagent/types';
import { createClient, ErrorReply } from '@redis/client';
import { CALL_SCRIPT, CALL_SCRIPT_SHA } from './call-script.js';

/** `where`: for messages, without the user and the password. */
export type RedisAddress = ({ url: string } | { path: string }) & { where: string };

export interface ConnectionOptions {
  address: RedisAddress;
  /** Milliseconds that a call waits for the connection, and then for its answer. */
  timeoutMs: number;
}

/** A call on its way. */
interface Call {
  /** Whether it may be sent a second time, because it only reads. */
  isRepeatable: boolean;
  wasSent: boolean;
  /** Whether its caller has an error, so that it must not be sent any more. */
  isGivenUp: boolean;
}

/** On older versions, a script may not read the time and then write. */
const OLDEST_MAJOR = 7;

/**
 * A connection to Redis that is opened again after it was lost. Calls are sent in the order in
 * which they were made. If the connection breaks during a call, the server may have done the call
 * already. So it is sent again only if it just reads.
 */
export class RedisConnection {
  readonly #client: ReturnType<typeof createClient>;
  readonly #timeoutMs: number;
  readonly #where: string;
  #isClosed = false;
  /**
   * Resolves when the server accepts calls. All calls wait for it, so that none overtakes another.
   */
  #ready: Gate = pending();
  #isReady = false;
  /** Why there is no connection. */
  #fault: unknown;

  constructor({ address, timeoutMs }: ConnectionOptions) {
    this.#timeoutMs = timeoutMs;
    this.#where = address.where;
    const common = {
      connectTimeout: timeoutMs,
      reconnectStrategy: (retries: number) => Math.min(2 ** retries * 10, 1_000),
    };
    this.#client = createClient({
      ...('url' in address
        ? { url: address.url, socket: common }
        : { socket: { ...common, tls: false, path: address.path } }),
      // A call must not be kept for a server that returns long after its caller has gone.
      disableOfflineQueue: true,
      // A call that was not sent in time is never sent. Without this, the client gives it 5 seconds.
      commandOptions: { timeout: timeoutMs },
    });
    this.#client.on('error', (error) => {
      this.#fault = error;
      // The server refuses the connection, and waiting would not change that.
      if (error instanceof ErrorReply && !this.#client.isReady) {
        this.#ready.reject(refused(error));
        this.#ready = pending();
      }
    });
    this.#client.on('ready', () => {
      this.#fault = undefined;
      this.#isReady = true;
      // Sent before any call: one that had to bring the script along could be overtaken by the next.
      this.#client.sendCommand(['SCRIPT', 'LOAD', CALL_SCRIPT]).catch(() => {});
      this.#ready.resolve();
    });
    // Emitted at each attempt to connect. All calls wait for the same promise until one attempt
    // succeeds.
    this.#client.on('reconnecting', () => {
      if (this.#isReady) this.#ready = pending();
      this.#isReady = false;
    });
    this.#client.connect().catch((error) => {
      this.#fault = error;
    });
  }

  /**
   * Checks that the server answers and has a supported version.
   * @throws `STORE_UNAVAILABLE` if the server can't be reached, refuses, or is too old
   */
  async assertUsable(): Promise<void> {
    const info = String(await this.#run(() => this.#client.sendCommand(['INFO', 'server']), true));
    const version = /^redis_version:(\d+)\S*/m.exec(info);
    if (Number(version?.[1]) < OLDEST_MAJOR) {
      throw new EthosError(
        'STORE_UNAVAILABLE',
        `Redis has version ${version?.[0].slice('redis_version:'.length)}; use ${OLDEST_MAJOR} or newer`,
      );
    }
  }

  /** Returns what an operator has to fix; `undefined` if the server answers. */
  async problem(): Promise<string | undefined> {
    try {
      await this.#run(() => this.#client.sendCommand(['PING']), true);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /**
   * Runs the script of the key-value store.
   *
   * @param isRepeatable whether it may run twice; then it is sent again if the connection breaks
   * @returns the answer of the script
   * @throws `STORE_UNAVAILABLE` if the server does not answer, or refuses
   */
  call(keys: string[], args: string[], isRepeatable: boolean): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    return this.#run(async (call) => {
      try {
        return await this.#client.sendCommand(['EVALSHA', CALL_SCRIPT_SHA, ...rest]);
      } catch (error) {
        if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error;
        if (call.isGivenUp) throw this.#away(call);
        return this.#client.sendCommand(['EVAL', CALL_SCRIPT, ...rest]);
      }
    }, isRepeatable);
  }

  /** Refuses later calls, and waits for the running ones. A second call of `close` does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ready.reject(closedError());
    if (this.#client.isReady) await this.#client.close();
    else this.#client.destroy();
  }

  async #run(send: (call: Call) => Promise<unknown>, isRepeatable: boolean): Promise<unknown> {
    if (this.#isClosed) throw closedError();
    const call: Call = { isRepeatable, wasSent: false, isGivenUp: false };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        call.isGivenUp = true;
        reject(this.#away(call));
      }, this.#timeoutMs);
    });
    // It may reject after nobody listens any more.
    late.catch(() => {});
    try {
      return await Promise.race([late, this.#send(() => send(call), call)]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(send: () => Promise<unknown>, call: Call, attempt = 1): Promise<unknown> {
    await this.#ready.promise;
    // The server may be back long after the caller was told that the call failed.
    if (call.isGivenUp) throw this.#away(call);
    call.wasSent = true;
    try {
      return await send();
    } catch (error) {
      if (error instanceof EthosError) throw error;
      if (error instanceof ErrorReply) throw refused(error);
      if (this.#isClosed) throw closedError();
      this.#fault = error;
      if (!call.isRepeatable || attempt > 1) throw this.#away(call);
      // A lost connection first rejects its calls, and is reported as an event after that.
      if (this.#client.isReady)
        await new Promise((resolve) => this.#client.once('reconnecting', resolve));
      return this.#send(send, call, attempt + 1);
    }
  }

  #away({ isRepeatable, wasSent }: Call): EthosError {
    const code =
      this.#fault instanceof Error && 'code' in this.#fault && this.#fault.code !== undefined
        ? String(this.#fault.code)
        : (this.#fault instanceof Error && this.#fault.name) || 'no answer';
    const written = wasSent && !isRepeatable ? '. The write may have been made' : '';
    return new EthosError(
      'STORE_UNAVAILABLE',
      `Redis at ${this.#where} did not answer (${code}); check that it runs and can be reached${written}`,
      { cause: this.#fault },
    );
  }
}

/**
 * Makes the error for an error reply: the server is loading, is full, or wants another password.
 */
function refused(error: ErrorReply): EthosError {
  // The first word is a code. The rest may quote what was sent.
  const code = /^[A-Z]+\b/.exec(error.message)?.[0] ?? 'ERR';
  return new EthosError(
    'STORE_UNAVAILABLE',
    `Redis refused a call (${code}); ${ADVICE[code] ?? ADVICE.ERR}`,
    {
      cause: error,
    },
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  NOAUTH: 'give a user and a password in the URL',
  WRONGPASS: 'check the user and the password in the URL',
  NOPERM: 'let its user run scripts, INFO and the commands on keys with the prefix of the store',
  OOM: 'give it more memory (`maxmemory`)',
  LOADING: 'it is starting; try again',
  READONLY: 'it is a replica; give the URL of the primary',
  MISCONF: 'it can not write to its disk; see its log',
  ERR: 'see its log',
};

function closedError(): EthosError {
  return new EthosError('STORE_UNAVAILABLE', 'the store is closed; open it again');
}

interface Gate {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

function pending(): Gate {
  let settle: Omit<Gate, 'promise'> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // It may reject while nobody waits.
  promise.catch(() => {});
  return { promise, ...settle };
}
