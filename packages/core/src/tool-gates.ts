import {
  assertOptions,
  discard,
  errorText,
  isListOf,
  isString,
  type OptionNames,
  wrongOption,
} from '@ethosagent/policy';
import {
  type AnyTool,
  EthosError,
  type ToolDefinition,
  type ToolFilterOpts,
} from '@ethosagent/types';
import type { CapabilityPlan } from './capability-resolver.js';
import type { SchemaGate } from './schema-gate.js';
import type { SettingsPlan } from './tool-settings.js';

/** A tool as the registry holds it. */
export interface RegisteredTool {
  readonly tool: AnyTool;
  readonly name: string;
  readonly pluginId: string | undefined;
  /** The server of a tool named `mcp__<server>__<tool>`. */
  readonly mcpServer: string | undefined;
  readonly needsBackends: boolean;
  /** The definition for the model. Everybody who asks gets the same object. */
  readonly definition: ToolDefinition;
  readonly plan: CapabilityPlan;
  /** Present for a tool with a plain schema, when such schemas are checked. */
  readonly schemaGate: SchemaGate | undefined;
  /** Checks `structured` of its results. */
  readonly outputGate: SchemaGate | undefined;
  /** Present for a tool that has settings. */
  readonly settings: SettingsPlan | undefined;
}

/** The filters of a batch, compiled. `undefined` means no filter. */
export interface ToolFilters {
  readonly allowedTools: ReadonlySet<string> | undefined;
  readonly allowedMcpServers: ReadonlySet<string> | undefined;
  readonly allowedPlugins: ReadonlySet<string> | undefined;
  readonly allowedMcpTools: ReadonlySet<string> | undefined;
  readonly excludeTools: ReadonlySet<string> | undefined;
}

const FILTERS: OptionNames<ToolFilterOpts> = {
  allowedMcpServers: true,
  allowedPlugins: true,
  allowedMcpTools: true,
  excludeTools: true,
};
const NAMES = [isListOf(isString), 'a list of names'] as const;

interface CompiledList {
  readonly items: readonly string[];
  readonly set: ReadonlySet<string>;
}

const compiledLists = new WeakMap<readonly string[], CompiledList>();
/** The last list of each filter, for a host that creates an equal list for each batch. */
const lastCompiled = new Map<keyof ToolFilters, CompiledList>();

// A batch usually passes the same list as the one before. It is compared, since the host may have
// changed it.
function compileList(filter: keyof ToolFilters, list: readonly string[]): ReadonlySet<string> {
  const before = [compiledLists.get(list), lastCompiled.get(filter)];
  const known = before.find((each) => each && isOf(each, list));
  if (known === undefined) assertNames(filter, list);
  const compiled = known ?? compiledOf([...list]);
  lastCompiled.set(filter, compiled);
  compiledLists.set(list, compiled);
  return compiled.set;
}

/** A filter that is not understood would exclude nothing. @throws `CONFIG_INVALID` */
function assertNames(filter: keyof ToolFilters, list: unknown): void {
  const problem = wrongOption({ [filter]: list }, { [filter]: NAMES });
  if (problem !== undefined) throw new EthosError('CONFIG_INVALID', problem);
}

function compiledOf(items: readonly string[]): CompiledList {
  return { items, set: new Set(items) };
}

function isOf({ items }: CompiledList, list: readonly string[]): boolean {
  if (!Array.isArray(list)) return false;
  return items.length === list.length && items.every((item, index) => item === list[index]);
}

/** @throws `CONFIG_INVALID` for a filter that there is not, or that is no list of names */
export function compileFilters(
  allowedTools: readonly string[] | undefined,
  filterOpts: ToolFilterOpts | undefined,
): ToolFilters {
  if (filterOpts !== undefined) assertOptions('the filters of tools', filterOpts, FILTERS);
  const lists = { ...filterOpts, allowedTools };
  const compile = (filter: keyof ToolFilters) => {
    const list = lists[filter];
    return list === undefined ? undefined : compileList(filter, list);
  };
  return {
    allowedTools: compile('allowedTools'),
    allowedMcpServers: compile('allowedMcpServers'),
    allowedPlugins: compile('allowedPlugins'),
    allowedMcpTools: compile('allowedMcpTools'),
    excludeTools: compile('excludeTools'),
  };
}

/** Whether two filters are the same. Lists with equal contents were compiled to the same set. */
export function sameFilters(a: ToolFilters, b: ToolFilters): boolean {
  return (
    a.allowedTools === b.allowedTools &&
    a.allowedMcpServers === b.allowedMcpServers &&
    a.allowedPlugins === b.allowedPlugins &&
    a.allowedMcpTools === b.allowedMcpTools &&
    a.excludeTools === b.excludeTools
  );
}

/** Why the filters exclude a tool, or `undefined`. */
export function filteredOut(entry: RegisteredTool, filters: ToolFilters): string | undefined {
  const { allowedTools, allowedMcpServers, allowedPlugins, allowedMcpTools, excludeTools } =
    filters;
  const { name, mcpServer, pluginId } = entry;
  if (excludeTools?.has(name)) return `${name} is excluded from this batch; use another tool`;
  if (
    allowedTools !== undefined &&
    mcpServer === undefined &&
    entry.tool.alwaysInclude !== true &&
    !allowedTools.has(name)
  ) {
    return `${name} is not among the tools of this personality; use another tool, or tell the user that the personality's toolset lacks it`;
  }
  if (
    mcpServer !== undefined &&
    allowedMcpServers !== undefined &&
    !allowedMcpServers.has(mcpServer)
  ) {
    return `${name}: the MCP server ${mcpServer} is not allowed for this personality; use another tool, or tell the user that the personality's mcp_servers lacks it`;
  }
  if (mcpServer !== undefined && allowedMcpTools !== undefined && !allowedMcpTools.has(name)) {
    return `${name} is not among the tools of MCP servers that are allowed; use another tool`;
  }
  if (pluginId !== undefined && allowedPlugins !== undefined && !allowedPlugins.has(pluginId)) {
    return `${name}: the plugin ${pluginId} is not allowed for this personality; use another tool, or tell the user that the personality's plugins lacks it`;
  }
  return undefined;
}

/**
 * Why a tool is not available, or `undefined`. If its check throws, it is not available.
 *
 * @param onThrow called with what the check threw
 */
export function unavailable(
  { tool, name }: RegisteredTool,
  onThrow?: (error: unknown) => void,
): string | undefined {
  if (tool.isAvailable === undefined) return undefined;
  try {
    const open: unknown = tool.isAvailable();
    discard(open);
    return open === true
      ? undefined
      : `${name} is not available: it says that something it needs (a key, a binary) is missing; go on without it, and tell the user`;
  } catch (error) {
    onThrow?.(error);
    return `${name} is not available: its own check failed (${errorText(error)}); go on without it, and tell the user`;
  }
}
