import { verifyRuntimeAudit } from '@ethosagent/wiring';
import { usageError } from '../cli-error.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { counted, safeText } from '../output.js';

/** Checks all logs of the home with its key, or the events in a database. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { out } = context;
  const report = await verified(context, options);
  if (out.isJson) out.json(report);
  else {
    for (const { file, line, seq, what } of report.problems) {
      out.line(
        `${out.color.red(what)} ${safeText(file)}${line > 0 ? `:${line}` : ''}${seq === undefined ? '' : ` (event ${seq})`}`,
      );
    }
    for (const text of report.cannotTell)
      out.line(`${out.color.yellow('unknown')} ${safeText(text)}`);
    const events = counted(report.events, ['event', 'events']);
    out.line(
      report.ok
        ? `${events}, none changed, added or removed`
        : `${events}, ${counted(report.problems.length, ['problem', 'problems'])}: keep a copy of the log before anything else writes to it`,
    );
  }
  return report.ok ? EXIT.ok : EXIT.found;
}

async function verified(
  context: CommandInput['context'],
  options: CommandInput['options'],
): ReturnType<typeof verifyRuntimeAudit> {
  if (!hasOption(options, 'database')) return verifyRuntimeAudit(context.home);
  const { ETHOS_STORES: url, ETHOS_AUDIT_KEY: key } = context.io.env;
  const database = context.namedStores ?? url;
  if (database === undefined || database === '') {
    throw usageError('which database? name it with --stores, or in ETHOS_STORES');
  }
  const { verifyAuditAt } = await import('@ethosagent/wiring/stores');
  return verifyAuditAt(database, key === undefined || key === '' ? {} : { key });
}
