import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { LockChange, LockPlaces, ReachLock, ToolRuntime } from '@ethosagent/wiring';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { sarifOf } from '../lock/sarif.js';
import { type PlacedChange, tellLockChanges } from '../lock/tell-lock-changes.js';
import { counted, safeText } from '../output.js';

/** Writes the reach lock. With `--check`, compares it with the present state. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const isCheck = hasOption(options, 'check');
  const isSarif = hasOption(options, 'sarif');
  if (isSarif && !isCheck) throw usageError('--sarif tells what --check finds; add --check');
  if (isSarif && context.out.isJson) throw usageError('--sarif is JSON already; leave --json out');
  if (!isCheck && context.namedPersonality !== undefined) {
    throw usageError('a lock holds all personalities; leave --personality out');
  }
  const { reachLockPath } = await import('@ethosagent/wiring');
  const named = textOption(options, 'file');
  const file = named === undefined ? reachLockPath(context.home) : resolve(context.io.cwd, named);
  return isCheck ? check(context, file, isSarif) : write(context, file);
}

async function write(context: CommandContext, file: string): Promise<number> {
  const { out } = context;
  const { formatReachLock, writeLockText, compareReachLocks } = await import('@ethosagent/wiring');
  const runtime = await open(context, file);
  const lock = await runtime.reachLock();
  const before = statSync(file, { throwIfNoEntry: false }) && (await lockBefore(context, file));
  writeLockText(file, formatReachLock(lock, placesOf(context)));
  const changes = before === undefined ? [] : compareReachLocks(before, lock);
  if (out.isJson) out.json({ file, changes });
  else {
    tellLockChanges(changes, context);
    const tools = lock.personalities.reduce((count, { tools: given }) => count + given.length, 0);
    out.line(
      `wrote ${safeText(shown(context, file))}: ${counted(lock.personalities.length, ['personality', 'personalities'])}, ${counted(tools, ['tool', 'tools'])}`,
    );
    out.note('commit it, and compare in CI with "ethosagent lock --check"');
  }
  return EXIT.ok;
}

/** A lock that can't be read is written again, with a message. */
async function lockBefore(context: CommandContext, file: string): Promise<ReachLock | undefined> {
  try {
    return await readLock(context, file);
  } catch (error) {
    context.out.note(
      `the lock that was there can not be compared: ${safeText(String(Object(error).message))}`,
    );
    return undefined;
  }
}

async function check(context: CommandContext, file: string, isSarif: boolean): Promise<number> {
  const { out } = context;
  // Read before servers are started, so that an invalid lock is reported at once.
  const lock = await readLock(context, file);
  const runtime = await open(context, file);
  const only = context.namedPersonality;
  const { toolSources } = await import('../lock/tool-source.js');
  const sourceOf = toolSources(context.home);
  const found = await runtime.compareReach(lock, only === undefined ? undefined : [only]);
  const changes = found.map(
    (change): PlacedChange =>
      change.tool === undefined || change.declared === undefined
        ? change
        : { ...change, source: sourceOf(change.tool) },
  );
  const widened = changes.filter(({ kind }) => kind === 'widened').length;
  if (isSarif) out.json(sarifOf(changes, { cwd: context.io.cwd, lockFile: file }));
  else if (out.isJson) out.json({ ok: widened === 0, file, changes });
  else {
    tellLockChanges(changes, context);
    const count = (kind: LockChange['kind']) => changes.filter((each) => each.kind === kind).length;
    out.line(
      changes.length === 0
        ? `the reach is as ${safeText(shown(context, file))} says`
        : `${widened} widened, ${count('narrowed')} narrowed, ${count('text')} text only`,
    );
    if (widened > 0) {
      out.note('review what is widened; if it is meant, run "ethosagent lock" and commit the lock');
    } else if (changes.length > 0) {
      out.note('nothing is widened; run "ethosagent lock" to bring the lock up to date');
    }
  }
  return widened > 0 ? EXIT.found : EXIT.ok;
}

async function readLock(context: CommandContext, file: string): Promise<ReachLock> {
  const { parseReachLock, readLockText } = await import('@ethosagent/wiring');
  return parseReachLock(readLockText(file), { ...placesOf(context), file: shown(context, file) });
}

/** The runtime of the agent without its lock, and with its MCP servers if it has any. */
async function open(context: CommandContext, file: string): Promise<ToolRuntime> {
  const { assertLockIsKept } = await import('@ethosagent/wiring');
  const config = await context.config();
  const hasServers =
    statSync(join(context.home, 'mcp.json'), { throwIfNoEntry: false }) !== undefined;
  const [first] = context.personalityIds();
  const runtime = await context.openRuntime({
    lock: false,
    ...(context.namedPersonality === undefined && first !== undefined && { personality: first }),
    ...(config.mcp === undefined && hasServers && { mcp: true }),
  });
  const configs = await Promise.all(
    (await runtime.personalities()).map(({ id }) => runtime.personality(id)),
  );
  assertLockIsKept(
    file,
    configs.flatMap(({ fs_reach }) => fs_reach?.write ?? []),
  );
  return runtime;
}

function placesOf(context: CommandContext): LockPlaces {
  return { home: context.home, cwd: context.io.cwd };
}

function shown(context: CommandContext, file: string): string {
  const below = relative(context.io.cwd, file);
  return below.startsWith('..') ? file : below;
}
