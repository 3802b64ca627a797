import { type AuditReport, verifyAuditChain } from '@ethosagent/audit';
import type { OptionNames } from '@ethosagent/policy';
import { Database } from '../database/database.js';
import { checkedOptions, POSTGRES_OPTIONS, type PostgresOptions } from '../database/options.js';

/** The database to check, and the key of its chains. */
export interface VerifyPostgresAuditOptions extends Omit<PostgresOptions, 'clock'> {
  /** The key that the chains were written with. */
  key?: string | Uint8Array;
}

const { clock: _, ...WITHOUT_CLOCK } = POSTGRES_OPTIONS;
const OPTIONS: OptionNames<VerifyPostgresAuditOptions> = { ...WITHOUT_CLOCK, key: true };
const PAGE = 1_000;
const MAX_PROBLEMS = 1_000;
const WHOLE_CHAINS =
  'Nobody can tell whether all lines of a writer were removed, with the head of its chain.';

/**
 * Checks the chains of all writers of a database, also while they write. A problem names `chain
 * <id>` as its file.
 *
 * @param options the URL, and the key of the chains
 * @returns the problems that were found, and what the check can't detect; `ok` if there is no
 * problem
 * @throws `CONFIG_INVALID` if a chain was written with a key and none is given, or for an invalid
 * option
 * @throws `STORE_UNAVAILABLE` if the server does not answer
 * @throws `STORE_NEWER` if a newer version wrote the tables
 */
export async function verifyPostgresAudit(
  options: VerifyPostgresAuditOptions,
): Promise<AuditReport> {
  const database = new Database(checkedOptions(options, 'verifyPostgresAudit', OPTIONS));
  const { schema } = database;
  const close = await database.open();
  const headOf = {
    name: 'ethos_audit_head',
    text: `SELECT head FROM ${schema}.audit_chain WHERE id = $1`,
  };
  const linesAfter = {
    name: 'ethos_audit_lines',
    text: `SELECT seq, line FROM ${schema}.audit_line WHERE chain = $1 AND seq > $2
      ORDER BY seq LIMIT ${PAGE}`,
  };
  async function* linesOf(id: string): AsyncGenerator<Uint8Array> {
    let after = '-9223372036854775808';
    for (;;) {
      const rows = await database.run<{ seq: string; line: Buffer }>(linesAfter, [id, after]);
      for (const { line } of rows) yield line;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }
  const total: AuditReport = { ok: true, events: 0, problems: [], cannotTell: [WHOLE_CHAINS] };
  try {
    // Also finds chains without a head, and chains without lines.
    const chains = await database.run<{ id: string }>(
      {
        name: 'ethos_audit_chains',
        text: `SELECT id FROM ${schema}.audit_chain UNION SELECT DISTINCT chain FROM ${schema}.audit_line
          ORDER BY 1`,
      },
      [],
    );
    for (const { id } of chains) {
      const report = await verifyAuditChain({
        name: `chain ${id}`,
        id,
        readHead: async () => (await database.run<{ head: string }>(headOf, [id]))[0]?.head,
        lines: linesOf(id),
        ...(options.key !== undefined && { key: options.key }),
      });
      total.ok &&= report.ok;
      total.events += report.events;
      total.problems.push(...report.problems.slice(0, MAX_PROBLEMS - total.problems.length));
      for (const each of report.cannotTell) {
        if (!total.cannotTell.includes(each)) total.cannotTell.push(each);
      }
    }
  } finally {
    await close();
  }
  return total;
}
