import type { ConnectionOptions } from 'node:tls';
import { assertOptions, MAX_TIMER_MS, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/** The address of the database, and the options of its connections. */
export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database`; PostgreSQL 15 or newer, in UTF-8. */
  url: string;
  /**
   * Options of TLS, such as a CA or a client certificate. By default TLS verifies the server.
   * `false` means no TLS. When absent, `sslmode` in the URL decides. If the URL has none, TLS is
   * used for every host except this machine. Do not give both.
   */
  tls?: ConnectionOptions | false;
  /** The schema of the tables. It is created if it is missing. `ethos` when absent. */
  schema?: string;
  /** The most connections that are open at once. 10 when absent. */
  maxConnections?: number;
  /** Milliseconds to wait for a new connection, or for a free one. 10,000 when absent. */
  connectTimeoutMs?: number;
  /** The most milliseconds that one statement takes, with its waits. 30,000 when absent. */
  statementTimeoutMs?: number;
  /** Returns milliseconds since the epoch, for tests. The clock of the server when absent. */
  clock?: () => number;
}

/** The checked options, with defaults for those that were left out. */
export interface CheckedOptions extends Required<Omit<PostgresOptions, 'tls' | 'clock'>> {
  tls: ConnectionOptions | false | undefined;
  clock: (() => number) | undefined;
  /** Host and port, for messages. Never contains the user or the password. */
  where: string;
}

const FACTORY = 'createPostgresStores';
const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The options that everything in a database has. */
export const POSTGRES_OPTIONS: OptionNames<PostgresOptions> = {
  url: true,
  tls: true,
  schema: true,
  maxConnections: true,
  connectTimeoutMs: true,
  statementTimeoutMs: true,
  clock: true,
};

/**
 * Checks the options, and adds defaults.
 * @param of what takes the options, for messages
 * @param known an object with the names of its options
 * @throws `CONFIG_INVALID` for an invalid option; the message never contains the URL
 */
export function checkedOptions(
  options: PostgresOptions,
  of: string,
  known: OptionNames<Record<string, unknown>> = POSTGRES_OPTIONS,
): CheckedOptions {
  assertOptions(of, options, known);
  const { schema = 'ethos', clock } = options;
  // Names that need no quotes in PostgreSQL, so that operators can type them.
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw invalidOption('schema', 'a name of small letters, digits and _, of at most 63');
  }
  const url = parsedUrl(options.url);
  const socket = url.searchParams.get('host');
  const host = socket ?? url.hostname;
  const isLocal = host === '' || host.startsWith('/') || LOCAL.has(host);
  const says = [...url.searchParams.keys()].some((name) => name.startsWith('ssl'));
  // `pg` uses the URL in that case.
  if (says && options.tls !== undefined) throw invalidOption('tls', 'left out, or ssl… of the URL');
  return {
    url: options.url,
    tls: options.tls ?? (says ? undefined : isLocal ? false : { rejectUnauthorized: true }),
    schema,
    clock,
    maxConnections: wholeNumber(options, 'maxConnections', { fallback: 10, max: 1_000 }),
    connectTimeoutMs: wholeNumber(options, 'connectTimeoutMs', { fallback: 10_000 }),
    statementTimeoutMs: wholeNumber(options, 'statementTimeoutMs', { fallback: 30_000 }),
    where: socket ?? (url.port === '' ? url.hostname || 'localhost' : url.host),
  };
}

function parsedUrl(text: unknown): URL {
  const wanted = 'a URL such as postgresql://user:password@host:5432/database';
  if (typeof text !== 'string') throw invalidOption('url', wanted);
  let url: URL;
  try {
    // A URL for a socket has no host. WHATWG's grammar allows no user without a host, so one is
    // added.
    url = new URL(text.replace('@/', '@localhost/'));
  } catch {
    // The error contains the URL, and so the password.
    throw invalidOption('url', `${wanted}; percent-encode what is special in user and password`);
  }
  if (url.protocol === 'postgresql:' || url.protocol === 'postgres:') return url;
  throw invalidOption('url', wanted);
}

/**
 * Reads a whole number above zero from options.
 * @throws `CONFIG_INVALID` for any other value, or one above `max`
 */
export function wholeNumber<Name extends string>(
  options: { readonly [K in Name]?: number },
  name: Name,
  { fallback, max = MAX_TIMER_MS }: { fallback: number; max?: number },
): number {
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw invalidOption(name, `a whole number from 1 to ${max}`);
}

function invalidOption(name: string, wanted: string): EthosError {
  return new EthosError('CONFIG_INVALID', `${FACTORY}: ${name} must be ${wanted}`);
}
