import type { MovedStore, MoveReport } from '@ethosagent/wiring/stores';
import { loadCliConfig } from '../cli-config.js';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine } from '../output.js';
import { sharedStores } from '../shared-stores.js';

/** After how many items the progress is shown. */
const EVERY = 1_000;

/** Copies the state of the home to a database, and reads it back to compare. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { io, out, home } = context;
  await assertKeptInHome(context);
  const to = await sharedStores(io.env, textOption(options, 'to') ?? context.namedStores);
  if (to === undefined) {
    throw usageError('where to? name a database with --to, or in ETHOS_STORES');
  }
  const { moveStores } = await import('@ethosagent/wiring/stores');
  const report = await moveStores({
    home,
    to,
    replace: hasOption(options, 'replace'),
    ...(io.signal !== undefined && { signal: io.signal }),
    onProgress: (store, done) => {
      if (done % EVERY === 0) out.note(`${store}: ${done}`);
    },
  });
  if (out.isJson) out.json(report);
  else tell(report, context);
  return report.ok ? EXIT.ok : EXIT.found;
}

/** @throws `CONFIG_INVALID` if the state is not in the home */
async function assertKeptInHome({ home }: CommandContext): Promise<void> {
  const { stores, memory, sessions } = await loadCliConfig(home);
  const own = Object.keys({ ...stores, ...(memory && { memory }), ...(sessions && { sessions }) });
  if (own.length === 0) return;
  throw usageError(
    `ethos.config keeps its own ${own.join(', ')}, and a move takes what is in the home; leave them out of ethos.config first`,
  );
}

function tell({ ok, stores, stays }: MoveReport, { out }: CommandContext): void {
  out.table(
    stores.map((each) => [
      each.verified ? out.color.green('verified') : out.color.red('differs'),
      out.color.bold(each.store),
      `${each.items} in the home`,
      `${each.moved} moved`,
      `${each.there} were there`,
      each.digest === undefined ? '' : `sha256 ${each.digest.slice(0, 16)}`,
    ]),
  );
  for (const each of stores) tellProblems(each, out);
  for (const text of stays) out.note(`stays in the home: ${safeLine(text)}`);
  out.note(
    ok
      ? 'All of it was read back. Run the agent with these stores from now on; the home was not changed.'
      : 'Not everything was moved, and the home was not changed. Stop the agent, fix the problems above, and run this again.',
  );
}

function tellProblems(
  { store, others, otherCount, failures }: MovedStore,
  out: CommandContext['out'],
) {
  for (const name of others) {
    out.note(
      `${store}: ${safeLine(name)} has another content there, which stays; --replace takes that of the home`,
    );
  }
  if (otherCount > others.length) out.note(`${store}: and ${otherCount - others.length} more`);
  for (const { item, message } of failures) {
    out.note(`${store}: ${safeLine(item)} was not moved: ${safeLine(message, 500)}`);
  }
}
