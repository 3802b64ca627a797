/**
 * The promise that a test tries to break, in the words of `SECURITY.md`:
 *
 * - `network`: connections to an address outside the policy
 * - `reach`: reads or writes outside the reach
 * - `processes`: processes that are alive a second after a time-out or an abort
 * - `secrets`: secrets in results, errors, events or logs
 * - `key-value`: acknowledged writes lost, or keys of another namespace
 * - `files`: torn files
 * - `batches`: batches that threw, hung or mixed
 * - `audit`: accesses missing, doubled or out of order in the audit log
 * - `quotas`: accesses over a quota
 * - `untrusted`: untrusted text that closed or forged its marking
 * - `fuzz`: properties of pure functions that did not hold
 */
export type Promised =
  | 'network'
  | 'reach'
  | 'processes'
  | 'secrets'
  | 'key-value'
  | 'files'
  | 'batches'
  | 'audit'
  | 'quotas'
  | 'untrusted'
  | 'fuzz';
