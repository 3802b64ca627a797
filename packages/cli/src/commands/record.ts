import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import type { LoggedEvent } from '@ethosagent/audit';
import { isWithin } from '@ethosagent/policy';
import { linksOnTheWay, realLocation } from '@ethosagent/storage-fs';
import { personalityConfigPath, type ToolRuntime, verifyRuntimeAudit } from '@ethosagent/wiring';
import {
  deriveLeastPrivilege,
  type LeastPrivilege,
  mergeIntoPersonality,
} from '@ethosagent/wiring/record';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine, safeText } from '../output.js';
import { replaceText } from '../record/personality-text.js';
import { events, eventsSince, logEnds } from '../record/recorded-events.js';
import { diffOf, type ShownFile, showLeast } from '../record/show-least.js';

type Event = LoggedEvent['event'];

/** What one personality needs, and its file. */
interface Proposal {
  least: LeastPrivilege;
  shown: ShownFile;
}

/** Runs a program, or reads the logs, and shows the smallest policy that it needs. */
export async function run({ context, args, options }: CommandInput): Promise<number> {
  const { out } = context;
  const session = textOption(options, 'session');
  const since = textOption(options, 'since');
  const isOld = session !== undefined || since !== undefined;
  if (isOld === args.length > 0) {
    throw usageError(
      isOld
        ? '--session and --since take what the logs hold; leave out the program'
        : 'say what to run: ethosagent record -- npm test; or name a session of the logs with --session',
    );
  }
  const { found, exitCode } = isOld
    ? { found: await logged(context, { session, since }), exitCode: EXIT.ok }
    : await recorded(context, args);
  const proposals = await proposalsOf(found, context);
  if (proposals.length === 0) {
    const what = 'no call of a personality of this home was logged';
    if (exitCode !== EXIT.ok) {
      out.note(`${what}, and the program ended with ${exitCode}`);
      return exitCode;
    }
    if (isOld) throw usageError(`${what} then; "ethosagent audit tail" shows what was`);
    throw usageError(
      `${what}; the program has to make its runtime with the home ${context.home}, and without an audit sink instead of the log`,
    );
  }
  const refusal = await refusalToWrite(context, exitCode);
  const written: string[] = [];
  for (const { least, shown } of proposals) {
    if (!out.isJson) showLeast(least, shown, out);
    if (!hasOption(options, 'write') || shown.before === shown.after) continue;
    if (refusal !== undefined) out.note(`nothing was written: ${refusal}`);
    else if (await isAgreed(shown, context)) {
      replaceText(shown.file, shown.before, shown.after);
      written.push(shown.file);
      out.note(`wrote ${safeText(shown.file)}`);
    }
  }
  if (out.isJson) {
    out.json({
      exitCode,
      personalities: proposals.map(({ least, shown }) => ({
        ...least,
        file: shown.file,
        diff: diffOf(shown),
        written: written.includes(shown.file),
      })),
    });
  }
  return exitCode;
}

/** Runs the program, and returns the events of that time. */
async function recorded(
  context: CommandContext,
  command: readonly string[],
): Promise<{ found: Event[]; exitCode: number }> {
  const { io, out, home } = context;
  if (io.runProgram === undefined) throw usageError('programs can not be run from here');
  const ends = await logEnds(home);
  const env = { ...io.env, ETHOS_HOME: home };
  const exitCode = await io.runProgram({ command, env, outputToError: out.isJson });
  const { found, left } = await eventsSince(home, ends);
  if (left > 0) {
    out.note(`${left} events were left out: a process that ran before is writing to that log`);
  }
  if (exitCode !== EXIT.ok) {
    out.note(`the program ended with ${exitCode}: what it did not come to is missing below`);
  }
  return { found, exitCode };
}

/** @throws `CONFIG_INVALID` for a text that is no time. Of some, `Date.parse` guesses a year. */
function timeOf(since: string): number {
  const time = /^\d{4}(?:-|$)/.test(since) ? Date.parse(since) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw usageError(`--since: ${since} is no time; write 2026-05-01T08:00`);
}

/** The events in the logs of one session, or since a time. */
async function logged(
  { home }: CommandContext,
  { session, since }: { session: string | undefined; since: string | undefined },
): Promise<Event[]> {
  const from = since === undefined ? undefined : timeOf(since);
  const found: Event[] = [];
  for await (const { event } of events(home)) {
    if (session !== undefined && event.sessionId !== session) continue;
    if (from === undefined || Date.parse(event.time) >= from) found.push(event);
  }
  return found;
}

async function proposalsOf(found: readonly Event[], context: CommandContext): Promise<Proposal[]> {
  const { out } = context;
  const named = new Set(found.flatMap(({ personalityId }) => personalityId?.split('/') ?? []));
  const known = context.personalityIds();
  const missing = [...named].filter((id) => !known.includes(id));
  if (missing.length > 0) {
    out.note(`not in this home: ${missing.map((id) => safeLine(id, 80)).join(', ')}`);
  }
  const wanted = context.namedPersonality;
  const ids = known.filter((id) => named.has(id) && (wanted === undefined || id === wanted));
  const [first] = ids;
  if (first === undefined) return [];
  const runtime = await context.openRuntime({ personality: first });
  const proposals: Proposal[] = [];
  for (const id of ids) {
    await runtime.switchPersonality(id);
    proposals.push(await proposalOf(found, { id, runtime, context }));
  }
  return proposals;
}

async function proposalOf(
  found: readonly Event[],
  { id, runtime, context }: { id: string; runtime: ToolRuntime; context: CommandContext },
): Promise<Proposal> {
  const { home, io } = context;
  const file = personalityConfigPath(home, id);
  const before = readFileSync(file, 'utf8');
  const reach = await runtime.reach();
  const least = deriveLeastPrivilege(found, {
    cwd: io.cwd,
    home,
    userHome: homedir(),
    personality: await runtime.personality(id),
    tools: reach.flatMap(({ tool: name, offered }) => {
      const tool = runtime.tool(name);
      if (tool === undefined) return [];
      const { capabilities = {}, alwaysInclude = false } = tool;
      return [{ name, offered, capabilities, alwaysInclude }];
    }),
    isFolder: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    passesLink: (path, root) => {
      const tops = [root, realLocation(root)];
      return linksOnTheWay(path).links.some(
        (link) => link !== root && tops.some((top) => isWithin(link, top)),
      );
    },
  });
  const after = mergeIntoPersonality(before, least, { home, cwd: io.cwd });
  return { least, shown: { file, before, after } };
}

/** Why no file may be changed, even if the user agrees. */
async function refusalToWrite(
  { io, home }: CommandContext,
  exitCode: number,
): Promise<string | undefined> {
  if (exitCode !== EXIT.ok) return 'the program failed, so the run is not whole';
  if (io.ask === undefined) return 'a person at a terminal has to agree to the diff';
  const { ok } = await verifyRuntimeAudit(home);
  return ok ? undefined : 'the log was changed; "ethosagent audit verify" says where';
}

async function isAgreed({ file }: ShownFile, { io }: CommandContext): Promise<boolean> {
  const answer = await io.ask?.(`Write this to ${safeText(file)}? [y]es, [n]o: `);
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
