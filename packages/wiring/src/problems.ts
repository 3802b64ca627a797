import { validateRegistration } from '@ethosagent/core';
import {
  declaredRef,
  expandToolset,
  mcpServerOf,
  nearestName,
  parseHostPattern,
  secretRefMatches,
  whyNeverOpen,
} from '@ethosagent/policy';
import type { AnyTool, CapabilityName, PersonalityConfig } from '@ethosagent/types';
import { placeIn } from './personality-places.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { findSettingsProblems } from './settings-problems.js';

const NETWORK_KEY = 'safety.network.allow';
const ARGUMENTS_KEY = 'safety.process.arguments';
const SECRETS_KEY = 'safety.secrets';

const KEYS: Partial<Record<CapabilityName, string>> = {
  network: NETWORK_KEY,
  'fs_reach.read': 'fs_reach.read',
  'fs_reach.write': 'fs_reach.write',
};

/** The tools and servers with which a personality's file is compared. */
export interface ProblemSources {
  file: string;
  tools: readonly AnyTool[];
  /** The configured MCP servers. */
  servers?: readonly string[];
  plugins: readonly string[];
}

/**
 * Finds problems of a personality that an operator should know: tools that declare more than it
 * allows, settings that a tool does not accept, and entries that match nothing. A tool that
 * declares exact paths and does not get all of them is withheld. A tool that gets only some of its
 * hosts works with those.
 */
export function findProblems(
  personality: PersonalityConfig,
  { file, tools, plugins, servers: known = [] }: ProblemSources,
): RuntimeProblem[] {
  const { names, unknown } = expandToolset(personality.toolset, tools);
  const offered = names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
  const ofTools = tools.map(({ name }) => mcpServerOf(name));
  const servers = new Set([...ofTools, ...known]);
  const at = (key: string, entry?: string) => placeOfEntry(file, personality, { key, entry });
  const missing = (
    key: 'toolset' | 'mcp_servers' | 'plugins',
    isKnown: (entry: string) => boolean,
    { what, known, remedy }: { what: string; known: Iterable<string | undefined>; remedy: string },
  ) =>
    (personality[key] ?? [])
      .filter((entry) => !isKnown(entry))
      .map((entry) => {
        const near = nearestName(
          entry,
          [...known].filter((name) => name !== undefined),
        );
        const hint = near === undefined ? `${remedy}, or take it out` : `did you mean "${near}"?`;
        const message = `${at(key, entry)}: ${key}: ${entry} is ${what}; ${hint}`;
        return { file, key, tool: entry, message, heldBack: false };
      });
  const labels = tools.flatMap(({ toolset = [] }) => toolset);
  return [
    ...missing('toolset', (entry) => !unknown.includes(entry), {
      what: 'neither a registered tool nor a group of tools',
      known: [...tools.map(({ name }) => name), ...labels],
      remedy: 'register it',
    }),
    ...(personality.toolset ?? [])
      .filter((entry) => mcpServerOf(entry) !== undefined && !unknown.includes(entry))
      .map((entry) => ({
        file,
        key: 'toolset',
        tool: entry,
        message: `${at('toolset', entry)}: toolset: ${entry} is a tool of an MCP server, and toolset neither gives nor takes these: the personality has all tools of the servers in mcp_servers, without those that mcp.json excludes; take it out`,
        heldBack: false,
      })),
    ...missing('mcp_servers', (server) => servers.has(server), {
      what: 'no server that a registered tool comes from',
      known: servers,
      remedy: 'add the server to mcp.json',
    }),
    ...missing('plugins', (id) => plugins.includes(id), {
      what: 'no plugin that is loaded',
      known: plugins,
      remedy: 'load it',
    }),
    ...wideNetwork(personality, offered).map(({ tool, message }) => ({
      file,
      key: NETWORK_KEY,
      tool,
      message: `${at(NETWORK_KEY, '*')}: ${NETWORK_KEY}: ${message}`,
      heldBack: false,
    })),
    ...deadHosts(personality).map(({ entry, message }) => ({
      file,
      key: NETWORK_KEY,
      tool: entry,
      message: `${at(NETWORK_KEY, entry)}: ${NETWORK_KEY}: ${message}`,
      heldBack: false,
    })),
    ...deadArgumentRules(personality, offered).map(({ binary, message }) => ({
      file,
      key: ARGUMENTS_KEY,
      tool: binary,
      message: `${placeIn(file, personality, [...ARGUMENTS_KEY.split('.'), binary])}: ${ARGUMENTS_KEY}: ${message}`,
      heldBack: false,
    })),
    ...unusedSecrets(personality, tools).map(({ ref, message }) => ({
      file,
      key: SECRETS_KEY,
      tool: ref,
      message: `${placeIn(file, personality, [...SECRETS_KEY.split('.'), ref])}: ${SECRETS_KEY}: ${message}`,
      heldBack: false,
    })),
    ...offered
      .filter((tool) => reachesNothing(tool, personality))
      .map(({ name }) => ({
        file,
        key: 'fs_reach',
        tool: name,
        message: `${at('fs_reach')}: fs_reach: ${name} works on the files of the personality, and this one has none; list folders in fs_reach.read and fs_reach.write`,
        heldBack: false,
      })),
    ...offered
      .filter((tool) => reachesNoHost(tool, personality))
      .map(({ name }) => ({
        file,
        key: NETWORK_KEY,
        tool: name,
        message: `${at(NETWORK_KEY)}: ${NETWORK_KEY}: ${name} may request whatever the personality allows, and this one allows no host; list hosts, or "*"`,
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
          message: `${at(key)}: ${key}: ${tool} declares more than this personality allows: ${message}`,
          heldBack: key !== NETWORK_KEY,
        };
      }),
  ];
}

function ownOf(record: Record<string, string> | undefined, key: string): string | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether a tool takes its reach from the personality, and the personality has none. */
function reachesNothing({ name, capabilities }: AnyTool, { fs_reach }: PersonalityConfig): boolean {
  // A tool of a server may never need what the server declares.
  if (mcpServerOf(name) !== undefined) return false;
  const { read, write } = capabilities.fs_reach ?? {};
  const inherits = read === 'from-personality' || write === 'from-personality';
  return inherits && !fs_reach?.read?.length && !fs_reach?.write?.length;
}

/** Whether a tool takes its hosts from the personality, and the personality has none. */
function reachesNoHost({ name, capabilities }: AnyTool, { safety }: PersonalityConfig): boolean {
  if (mcpServerOf(name) !== undefined) return false;
  const isOpen = capabilities.network?.allowedHosts.every((host) => host === '*') === true;
  return isOpen && !safety?.network?.allow?.length;
}

/** The place of a key in the file of a personality, or of an entry in its list. */
export function placeOfEntry(
  file: string,
  personality: PersonalityConfig,
  { key, entry }: { key: string; entry?: string | undefined },
): string {
  const path = key.split('.');
  const list: unknown = path.reduce(
    (value: unknown, part) => Object.getOwnPropertyDescriptor(Object(value), part)?.value,
    personality,
  );
  const index = Array.isArray(list) && entry !== undefined ? list.indexOf(entry) : -1;
  return placeIn(file, personality, index < 0 ? path : [...path, index]);
}

/** Reports an allow list of all hosts, if a tool with network access is offered. */
function wideNetwork(
  { safety }: PersonalityConfig,
  offered: readonly AnyTool[],
): { tool: string; message: string }[] {
  const { allow = [], allow_private_urls } = safety?.network ?? {};
  const tool = offered.find(({ capabilities }) => capabilities.network !== undefined);
  if (!allow.includes('*') || tool === undefined) return [];
  const whose = allow_private_urls === true ? ', and those of this machine and its network' : '';
  const message = `"*" allows every host of the internet${whose}, so a hostile text that a tool reads may get data sent to any of them; list the hosts that the tools need instead`;
  return [{ tool: tool.name, message }];
}

/** Reports entries of the allow list that no rule opens. */
function deadHosts({ safety }: PersonalityConfig): { entry: string; message: string }[] {
  return (safety?.network?.allow ?? []).flatMap((entry) => {
    const pattern = parseHostPattern(entry);
    const why = pattern === null ? undefined : whyNeverOpen(pattern);
    return why === undefined
      ? []
      : [{ entry, message: `${entry} gives nothing: ${why}, which no rule opens; take it out` }];
  });
}

/** Reports secrets of the personality for refs that no tool declares. They have no effect. */
function unusedSecrets(
  { safety }: PersonalityConfig,
  tools: readonly AnyTool[],
): { ref: string; message: string }[] {
  const declared = tools.flatMap(({ capabilities }) => capabilities.secrets ?? []).map(declaredRef);
  return Object.keys(safety?.secrets ?? {}).flatMap((ref) => {
    if (declared.some((one) => secretRefMatches(one, ref))) return [];
    const near = nearestName(ref, declared);
    const hint = near === undefined ? 'take it out' : `did you mean "${near}"?`;
    return [{ ref, message: `no tool declares the secret ${ref}; ${hint}` }];
  });
}

/** Reports rules for the arguments of programs that no tool starts. They forbid nothing. */
function deadArgumentRules(
  { safety }: PersonalityConfig,
  offered: readonly AnyTool[],
): { binary: string; message: string }[] {
  const started = offered.flatMap(
    ({ capabilities }) => capabilities.process?.allowedBinaries ?? [],
  );
  if (started.includes('*')) return [];
  return Object.keys(safety?.process?.arguments ?? {}).flatMap((binary) => {
    if (started.some((one) => one === binary || one.endsWith(`/${binary}`))) return [];
    const near = nearestName(binary, started);
    if (near === undefined) return [];
    const message = `no tool starts ${binary}, so that its rule holds for nothing; did you mean "${near}"?`;
    return [{ binary, message }];
  });
}
