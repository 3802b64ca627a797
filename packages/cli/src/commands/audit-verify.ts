import { verifyRuntimeAudit } from '@ethosagent/wiring';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeText } from '../output.js';

/** Checks all logs of the home with its key. */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const report = await verifyRuntimeAudit(context.home);
  if (out.isJson) out.json(report);
  else {
    for (const { file, line, seq, what } of report.problems) {
      out.line(
        `${out.color.red(what)} ${safeText(file)}${line > 0 ? `:${line}` : ''}${seq === undefined ? '' : ` (event ${seq})`}`,
      );
    }
    for (const text of report.cannotTell)
      out.line(`${out.color.yellow('unknown')} ${safeText(text)}`);
    out.line(
      report.ok
        ? `${report.events} events, none changed, added or removed`
        : `${report.events} events, ${report.problems.length} problems: keep a copy of the log before anything else writes to it`,
    );
  }
  return report.ok ? EXIT.ok : EXIT.found;
}
