import { validateRegistration } from '@ethosagent/core';
import { expandToolset } from '@ethosagent/policy';
import type { AnyTool, CapabilityName, PersonalityConfig } from '@ethosagent/types';
import type { RuntimeProblem } from './runtime-problem.js';
import { findSettingsProblems } from './settings-problems.js';

const KEYS: Partial<Record<CapabilityName, string>> = {
  network: 'safety.network.allow',
  'fs_reach.read': 'fs_reach.read',
  'fs_reach.write': 'fs_reach.write',
};

/** `mcp__<server>__<tool>` */
const MCP_TOOL = /^mcp__(.+?)__./s;

/** What a personality's file is compared with. */
export interface ProblemSources {
  /** The path of the file. */
  file: string;
  tools: readonly AnyTool[];
  /** The MCP servers that there are, as they are configured. */
  servers?: readonly string[];
  /** The ids of the loaded plugins. */
  plugins: readonly string[];
}

/**
 * What an operator should know of a personality: tools that declare more than it allows, settings
 * that a tool doesn't take, and entries that name nothing. A tool that knows its exact paths and
 * doesn't have them is held back; one whose hosts are not all allowed works with those that are.
 */
export function findProblems(
  personality: PersonalityConfig,
  { file, tools, plugins, servers: known = [] }: ProblemSources,
): RuntimeProblem[] {
  const { names, unknown } = expandToolset(personality.toolset, tools);
  const offered = names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
  const ofTools = tools.map(({ name }) => MCP_TOOL.exec(name)?.[1]);
  const servers = new Set([...ofTools, ...known]);
  const missing = (key: string, entries: readonly string[], what: string) =>
    entries.map((entry) => ({
      file,
      key,
      tool: entry,
      message: `${file}: ${key}: ${entry} is ${what}`,
      heldBack: false,
    }));
  return [
    ...missing('toolset', unknown, 'neither a registered tool nor a group of tools'),
    ...missing(
      'mcp_servers',
      (personality.mcp_servers ?? []).filter((server) => !servers.has(server)),
      'no server that a registered tool comes from',
    ),
    ...missing(
      'plugins',
      (personality.plugins ?? []).filter((id) => !plugins.includes(id)),
      'no plugin that is loaded',
    ),
    ...offered
      .filter((tool) => reachesNothing(tool, personality))
      .map(({ name }) => ({
        file,
        key: 'fs_reach',
        tool: name,
        message: `${file}: fs_reach: ${name} works on the files of the personality, and this one has none; list folders in fs_reach.read and fs_reach.write`,
        heldBack: false,
      })),
    ...offered
      .filter((tool) => reachesNoHost(tool, personality))
      .map(({ name }) => ({
        file,
        key: 'safety.network.allow',
        tool: name,
        message: `${file}: safety.network.allow: ${name} may request whatever the personality allows, and this one allows no host; list hosts, or "*"`,
        heldBack: false,
      })),
    ...offered.flatMap(({ name, settingsKey = name }) => {
      const why = ownOf(personality.withheld, settingsKey);
      if (why === undefined) return [];
      const message = `${name} is held back: ${why}; give both the same settings`;
      return [{ file, key: 'tool_settings', tool: name, message, heldBack: true }];
    }),
    ...findSettingsProblems(personality, { file, tools }),
    ...offered
      .flatMap((tool) => validateRegistration(tool, personality))
      .map(({ tool, capability, message }) => {
        const key = KEYS[capability] ?? capability;
        return {
          file,
          key,
          tool,
          message: `${file}: ${key}: ${tool} declares more than this personality allows: ${message}`,
          heldBack: key !== 'safety.network.allow',
        };
      }),
  ];
}

function ownOf(record: Record<string, string> | undefined, key: string): string | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether a tool lives on the reach of the personality where there is none. */
function reachesNothing({ name, capabilities }: AnyTool, { fs_reach }: PersonalityConfig): boolean {
  // What a server declares, it may never need.
  if (MCP_TOOL.test(name)) return false;
  const { read, write } = capabilities.fs_reach ?? {};
  const inherits = read === 'from-personality' || write === 'from-personality';
  return inherits && !fs_reach?.read?.length && !fs_reach?.write?.length;
}

/** Whether a tool lives on the hosts of the personality where there are none. */
function reachesNoHost({ name, capabilities }: AnyTool, { safety }: PersonalityConfig): boolean {
  if (MCP_TOOL.test(name)) return false;
  const isOpen = capabilities.network?.allowedHosts.every((host) => host === '*') === true;
  return isOpen && !safety?.network?.allow?.length;
}
