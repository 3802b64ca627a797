import { EthosError, errorCodeOf } from '@ethosagent/types';

/** The work during which an error came up. */
export interface FailureContext {
  /** Host and port, while a store is opened or checked. Later errors reach the caller of a tool. */
  where?: string;
  /** Whether a write was sent and its outcome is unknown. */
  maybeWritten?: boolean;
}

/**
 * Turns an error of `pg`, Node or this package into a typed error. Contains no key, no value and no
 * password.
 */
export function toStoreError(error: unknown, context: FailureContext = {}): Error {
  if (error instanceof Error && errorCodeOf(error) !== undefined) return error;
  const code = systemCodeOf(error);
  const what = context.where === undefined ? 'the database' : `PostgreSQL at ${context.where}`;
  const unsure = context.maybeWritten
    ? ' The connection broke before the answer came, so what was written may be there: read before you write again.'
    : '';
  return new EthosError(
    'STORE_UNAVAILABLE',
    `${what} failed (${code}); ${adviceFor(code)}.${unsure}`,
    { cause: error },
  );
}

export function closedError(): EthosError {
  return new EthosError('STORE_UNAVAILABLE', 'the store is closed; create a new one');
}

/** Whether the server undid the transaction because of others. Another attempt may succeed. */
export function isUndone(error: unknown): boolean {
  return /^40(001|P01)$/.test(systemCodeOf(error));
}

/** Whether the server refused a write because it, or the connection, only reads. */
export function isReadOnly(error: unknown): boolean {
  return systemCodeOf(error) === '25006';
}

/** Advice by SQLSTATE, or by the code of a system call. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'check user and password, and pg_hba.conf of the server'],
  [/^3D000/, 'create the database, or name another one in the URL'],
  [/^42501/, 'give this user a schema that it may make tables and write in'],
  [/^25006/, 'it is read-only: let it write again, or give the URL of the primary'],
  [/^ALL_BUSY/, 'all connections of this process are in use: try again, or raise maxConnections'],
  [/^53300/, 'lower maxConnections, or raise max_connections of the server'],
  [/^53/, 'free memory or disk space of the server and try again'],
  [/^57014|^55P03/, 'it took too long: try again, or raise statementTimeoutMs'],
  [/^57P/, 'the server is starting or stopping: try again'],
  [/^(3F|42)/, 'its tables are not what this version made: restore them from a backup'],
  [/^(XX|58)/, 'the server reports damage: see its log, restore from a backup'],
  [/CERT|TLS|SSL|ALTNAME|SELF_SIGNED/, 'check the certificate of the server, the CA and `tls`'],
];

function adviceFor(code: string): string {
  const row = ADVICE.find(([pattern]) => pattern.test(code));
  return row?.[1] ?? 'check that it runs, and that this machine may reach it';
}

function systemCodeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  // `pg` has no codes for these errors.
  const text = error instanceof Error ? error.message : '';
  if (/^timeout exceeded when trying to connect/.test(text)) return 'ALL_BUSY';
  if (/timeout/i.test(text)) return 'TIMEOUT';
  if (/does not support SSL/i.test(text)) return 'NO_TLS';
  return 'CONNECTION_LOST';
}
