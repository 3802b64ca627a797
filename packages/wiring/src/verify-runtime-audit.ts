import type { AuditReport } from '@ethosagent/audit';

/**
 * Checks the audit logs of a home, with the key that its runtimes keep among the secrets.
 *
 * @param home the absolute path of the home, as for `createToolRuntime`
 * @returns the problems, and what the check can't tell; `ok` if there is no problem
 * @throws `FILE_NOT_FOUND` if there is no log
 * @throws `SECRET_NOT_FOUND` if the key can't be used
 * @throws `CONFIG_INVALID` if the logs were written with a key that no longer exists
 */
export async function verifyRuntimeAudit(home: string): Promise<AuditReport> {
  const { verifyHomeAudit } = await import('./audit-log.js');
  return verifyHomeAudit(home);
}
