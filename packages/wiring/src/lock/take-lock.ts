import type { ResolvedGrant } from '@ethosagent/core';
import { canonicalJson, compareCodePoints, effectsOf, isMcpToolName } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import type { McpServerIdentity } from '../mcp.js';
import { type LockPlaces, localLock, portableLock } from './portable-lock.js';
import type { LockedPersonality, LockedText, LockedTool, ReachLock } from './reach-lock.js';

/** A tool that a personality allows. */
export interface GivenTool {
  readonly tool: AnyTool;
  readonly grant: ResolvedGrant;
}

/** A personality, with the tools that it allows. */
export interface GivenPersonality {
  readonly config: PersonalityConfig;
  readonly tools: readonly GivenTool[];
}

/** The state from which a lock is taken. */
export interface LockSources {
  readonly places: LockPlaces;
  readonly environment: readonly string[];
  readonly personalities: readonly GivenPersonality[];
  readonly servers: readonly McpServerIdentity[];
}

const GRANTS = ['session', 'arguments', 'tool'] as const;

/** Takes a lock of the present state, with the paths of this machine. */
export function takeLock(sources: LockSources): ReachLock {
  const { places, environment, personalities, servers } = sources;
  const tools = new Map(
    personalities.flatMap((each) => each.tools.map(({ tool }) => [tool.name, tool] as const)),
  );
  const taken: ReachLock = {
    environment: sorted(environment),
    personalities: byName(
      personalities.map((each) => lockedPersonality(each, servers)),
      ({ personality }) => personality,
    ),
    servers: byName(
      servers.map(({ server, reached, names, pin }) => ({
        server,
        reached: [...reached],
        names: sorted(names),
        pin,
      })),
      ({ server }) => server,
    ),
    texts: byName([...tools.values()].map(lockedText), ({ tool }) => tool),
  };
  // A link on the way to the home or the working directory must not count as a difference.
  return localLock(portableLock(taken, places), places);
}

function lockedPersonality(
  { config, tools }: GivenPersonality,
  servers: readonly McpServerIdentity[],
): LockedPersonality {
  const { approvals = {}, untrusted = {} } = config.safety ?? {};
  const { grants } = approvals;
  return {
    personality: config.id,
    approvals: {
      grants: GRANTS.filter((scope) => grants === undefined || grants.includes(scope)),
      sub_agents: approvals.sub_agents ?? 'none',
    },
    untrusted: {
      write: untrusted.write ?? 'ask',
      send: untrusted.send ?? 'ask',
      spawn: untrusted.spawn ?? 'ask',
      trust: sorted(untrusted.trust ?? []),
    },
    servers: sorted(
      servers
        .filter(
          ({ server, part }) =>
            config.mcp_servers === undefined ||
            config.mcp_servers.includes(server) ||
            config.mcp_servers.includes(part),
        )
        .map(({ server }) => server),
    ),
    tools: byName(
      tools.map((given) => lockedTool(given, config)),
      ({ tool }) => tool,
    ),
  };
}

function lockedTool({ tool, grant }: GivenTool, { tool_settings }: PersonalityConfig): LockedTool {
  const { name, settingsKey = name, requiresApproval, unconfined = false } = tool;
  const settings =
    tool_settings !== undefined && Object.hasOwn(tool_settings, settingsKey)
      ? tool_settings[settingsKey]
      : undefined;
  const asks = requiresApproval ?? unconfined;
  return {
    tool: name,
    approval: typeof asks === 'function' ? 'by-call' : asks ? 'always' : 'never',
    effects: [...effectsOf(tool)],
    untrusted: tool.outputIsUntrusted ?? unconfined,
    unconfined,
    ...(settings !== undefined && tool.settings !== undefined && { settings: pretty(settings) }),
    grant: sortedGrant(grant),
  };
}

function lockedText({ name, description, schema }: AnyTool): LockedText {
  return {
    tool: name,
    description,
    // Only the schemas of MCP tools are stored. Those of other tools are part of the code.
    ...(isMcpToolName(name) && { schema: pretty(schema) }),
  };
}

/** JSON on several lines, the same for equal data. */
function pretty(value: unknown): string {
  return JSON.stringify(JSON.parse(canonicalJson(value)), null, 2);
}

/** Sorts lists whose order has no meaning. */
function sortedGrant(grant: ResolvedGrant): ResolvedGrant {
  const { network, secrets, secretSources, attachments, memory, process: processes } = grant;
  return {
    ...grant,
    ...(network !== undefined && {
      network: {
        ...network,
        allowedHosts: sorted(network.allowedHosts),
        ...(network.deny !== undefined && { deny: sorted(network.deny) }),
      },
    }),
    ...(secrets !== undefined && {
      secrets: byName(
        secrets.map((each) =>
          typeof each === 'string' ? each : { ref: each.ref, hosts: sorted(each.hosts) },
        ),
        canonicalJson,
      ),
    }),
    ...(secretSources !== undefined && { secretSources: sortedRecord(secretSources) }),
    ...(processes?.arguments !== undefined && {
      process: { ...processes, arguments: sortedRecord(processes.arguments) },
    }),
    ...(attachments !== undefined && {
      attachments: { mediaTypes: sorted(attachments.mediaTypes) },
    }),
    ...(memory !== undefined && { memory: { ...memory, scopes: sorted(memory.scopes) } }),
  };
}

function sortedRecord<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(byName(Object.entries(record), ([name]) => name));
}

function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort(compareCodePoints);
}

function byName<T>(list: readonly T[], nameOf: (item: T) => string): T[] {
  return [...list].sort((a, b) => compareCodePoints(nameOf(a), nameOf(b)));
}
