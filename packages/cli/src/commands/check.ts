import { join } from 'node:path';
import { expandToolset, isMcpToolName, nearestName } from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import type { RuntimeProblem, ToolRuntime } from '@ethosagent/wiring';
import { messageOf } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { hasMcpServers } from '../open-mcp.js';
import { counted, safeText } from '../output.js';

/** A problem of one personality, or of the home. */
interface Finding {
  /** Absent where the problem belongs to no single personality. */
  personality?: string;
  /**
   * `error`: calls are refused, or nothing runs. `warning`: it runs, but allows less or more than
   * was meant.
   */
  level: 'error' | 'warning';
  message: string;
  file?: string;
  key?: string;
  tool?: string;
}

/** Opens the runtime under each personality, and reports what would fail at the first call. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { out } = context;
  const ids =
    context.namedPersonality === undefined ? context.personalityIds() : [context.namedPersonality];
  const findings = await findAll(context, ids);
  const errors = findings.filter(({ level }) => level === 'error').length;
  const warnings = findings.length - errors;
  if (out.isJson) out.json({ ok: errors === 0, personalities: ids, findings });
  else {
    for (const { personality, level, message, tool } of findings) {
      const label = level === 'error' ? out.color.red('error') : out.color.yellow('warning');
      out.line(
        `${label} ${out.color.bold(personality ?? (tool === undefined ? 'home' : 'tools'))}: ${safeText(message)}`,
      );
    }
    out.line(
      `${counted(ids.length, ['personality', 'personalities'])}: ${counted(errors, ['error', 'errors'])}, ${counted(warnings, ['warning', 'warnings'])}`,
    );
  }
  const fails = errors > 0 || (warnings > 0 && hasOption(options, 'strict'));
  return fails ? EXIT.found : EXIT.ok;
}

async function findAll(context: CommandContext, ids: readonly string[]): Promise<Finding[]> {
  // Problems of the home itself end the command: they belong to no personality.
  await context.config();
  const tools = await toolsOf(context, ids);
  const findings = [...(await unknownDefault(context)), ...(await unusedServers(context))];
  let runtime: ToolRuntime | undefined;
  for (const personality of ids) {
    try {
      if (runtime === undefined) runtime = await context.openRuntime({ personality, ...tools });
      else await runtime.switchPersonality(personality);
      findings.push(...(await runtime.problems()).map((each) => findingOf(personality, each)));
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
      findings.push(...(await findingsOf(personality, error)));
    }
  }
  // The others may list what the named one does not.
  if (runtime === undefined || context.namedPersonality !== undefined) return findings;
  return [...findings, ...(await unlistedTools(context, runtime, ids))];
}

/** A file that is invalid may also have entries that would only be warnings. */
async function findingsOf(personality: string, error: unknown): Promise<Finding[]> {
  const { otherProblemsOf } = await import('@ethosagent/wiring');
  const others = new Map(otherProblemsOf(error).map((each) => [each.message, each]));
  return messageOf(error)
    .split('\n')
    .map((message) => {
      const other = others.get(message);
      return other === undefined
        ? { personality, level: 'error', message }
        : findingOf(personality, other);
    });
}

/** A personality that the configuration names, and that the home does not have. */
async function unknownDefault(context: CommandContext): Promise<Finding[]> {
  const { personality } = await context.config();
  const ids = context.personalityIds();
  const unknown = personality?.split('/').find((id) => !ids.includes(id));
  if (unknown === undefined) return [];
  const near = nearestName(unknown, ids);
  const all = ids.length === 0 ? 'add it' : `there are ${ids.join(', ')}`;
  const next = near === undefined ? all : `did you mean "${near}"?`;
  const message = `personality of ethos.config: there is no personality "${unknown}"; ${next}`;
  return [{ level: 'error', message, key: 'personality' }];
}

/** A file of MCP servers that the configuration does not use, so that nothing else reads it. */
async function unusedServers(context: CommandContext): Promise<Finding[]> {
  if ((await context.config()).mcp !== undefined || !(await hasMcpServers(context))) return [];
  const file = join(context.home, 'mcp.json');
  const next = 'write "mcp: true" into ethos.config.mjs, or remove the file';
  const finding = (message: string): Finding[] => [{ level: 'warning', message, file }];
  const { McpFile } = await import('../mcp-file.js');
  try {
    await McpFile.open(context.home);
    return finding(`${file} is not used; ${next}`);
  } catch (error) {
    return finding(`${messageOf(error)}; the file is not used either: ${next}`);
  }
}

/** The tools that the home registers and that no model is offered, since no personality lists them. */
async function unlistedTools(
  context: CommandContext,
  runtime: ToolRuntime,
  ids: readonly string[],
): Promise<Finding[]> {
  const { installedTools } = await import('@ethosagent/wiring');
  // Without a list of the home, a tool that is merely installed is registered, too.
  const installed = (await context.config()).tools === undefined ? installedTools() : [];
  const read = await Promise.allSettled(ids.map((id) => runtime.personality(id)));
  const tools = runtime.registry.list();
  const listed = new Set<string>();
  for (const each of read) {
    // Nobody knows what a file that can not be read lists. Its error is a finding already.
    if (each.status === 'rejected') return [];
    const { names } = expandToolset(each.value.toolset, tools);
    if (names === undefined) return [];
    for (const name of names) listed.add(name);
  }
  return tools
    .filter(({ name, alwaysInclude }) => !listed.has(name) && alwaysInclude !== true)
    .filter(({ name }) => !isMcpToolName(name) && !installed.includes(name))
    .map(({ name }) => ({
      level: 'warning',
      message: `${name} is registered, but no personality lists it, so no model is offered it; add it to "toolset" in personalities/<id>/config.yaml, or do not register it`,
      key: 'toolset',
      tool: name,
    }));
}

/**
 * The tools that the personalities name, so that no others are loaded. Empty if the home gives its
 * own tools, or a personality names none.
 */
async function toolsOf(
  context: CommandContext,
  ids: readonly string[],
): Promise<{ tools?: string[] }> {
  if ((await context.config()).tools !== undefined) return {};
  const { createPersonalityStore, installedTools } = await import('@ethosagent/wiring');
  const store = createPersonalityStore({ home: context.home, cwd: context.io.cwd });
  const read = await Promise.allSettled(ids.map((id) => store.get(id)));
  const personalities = read.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  // The problem of a personality that can't be read is found when it is opened.
  return personalities.length < ids.length ? {} : { tools: installedTools(personalities) };
}

function findingOf(
  personality: string,
  { message, heldBack, file, key, tool }: RuntimeProblem,
): Finding {
  return {
    personality,
    level: heldBack ? 'error' : 'warning',
    message,
    ...(file !== '' && { file }),
    key,
    ...(tool !== '' && { tool }),
  };
}
