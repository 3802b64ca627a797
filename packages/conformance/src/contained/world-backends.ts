import { randomUUID } from 'node:crypto';
import { delimiter } from 'node:path';
import { type CapabilityBackends, createInMemoryKvStore } from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import type { AnyTool, AuditSink } from '@ethosagent/types';
import type { ContainmentOptions } from './options.js';
import { RelocatedStorage } from './relocated-storage.js';
import type { WorldFiles } from './world-files.js';
import type { WorldMemory } from './world-memory.js';

/** The variable by which the processes of a world are found. */
export const WORLD_VARIABLE = 'ETHOS_CONTAINED';
/** Marks a process that was started through the context. */
export const PASS_VARIABLE = 'ETHOS_CONTAINED_PASS';

/**
 * The address that all names resolve to: public, and assigned to nobody. The world's own `fetch`
 * connects to its servers instead.
 */
const NOBODYS_ADDRESS = '3000::1';

export interface WorldBackendsOptions {
  tool: AnyTool;
  options: ContainmentOptions;
  files: WorldFiles;
  /** The mark of the world's processes. */
  pass: string;
  /** The host and port of the world's server. */
  ownHost: string;
  fetch: typeof globalThis.fetch;
  audit: AuditSink;
  memory: WorldMemory;
  /** The values by ref. Refs that are asked for are added. */
  secrets: Map<string, string>;
}

/** Creates the real backends over a world. */
export function createBackends(world: WorldBackendsOptions): CapabilityBackends {
  const { tool, options, files, fetch, audit, secrets } = world;
  const declared = declaredPaths(tool);
  const disk = new FsStorage();
  const allow = allowList(world);
  const { settings } = options;
  const { process: processes, quotas } = options.personality?.safety ?? {};
  const reach = [files.reach, ...declared];
  return {
    fetch,
    lookup: async () => [{ address: NOBODYS_ADDRESS }],
    ...(allow !== undefined && { personalityNetworkAllow: allow }),
    storage: declared.length === 0 ? disk : new RelocatedStorage(disk, files.base, files.reach),
    personalityFsReach: { read: reach, write: reach },
    secretsBackend: async (ref) => {
      const value = options.secrets?.[ref] ?? secrets.get(ref) ?? randomSecret();
      secrets.set(ref, value);
      return value;
    },
    kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
    memory: world.memory.memory,
    sessions: world.memory.sessions,
    ...(settings !== undefined && { personalityToolSettings: () => settings }),
    processEnv: environment(world),
    ...(processes !== undefined && { personalityProcess: processes }),
    ...(quotas !== undefined && { personalityQuotas: quotas }),
    approve: options.approve ?? (() => true),
    audit,
  };
}

/** Returns the paths that a tool itself declares. */
export function declaredPaths({ capabilities }: AnyTool): string[] {
  const { read, write } = capabilities.fs_reach ?? {};
  return [read, write].flatMap((paths) => (Array.isArray(paths) ? paths : []));
}

export function declaredHosts({ capabilities }: AnyTool): readonly string[] {
  return capabilities.network?.allowedHosts ?? [];
}

export function isLoopback(host: string): boolean {
  return /^(127\.|localhost|\[?::1)/.test(host);
}

/** Returns the personality's list, with the world's own server, which must be named explicitly. */
function allowList({ tool, options, ownHost }: WorldBackendsOptions): string[] | undefined {
  const given = options.personality?.safety?.network?.allow;
  if (given !== undefined) return [...given, ownHost];
  const hosts = declaredHosts(tool);
  const isListed = hosts.includes('*') || hosts.some(isLoopback);
  const elsewhere = hosts.filter((host) => host !== '*' && !isLoopback(host));
  return isListed ? [ownHost, ...elsewhere] : undefined;
}

function environment({ files, pass }: WorldBackendsOptions): Record<string, string> {
  return {
    // biome-ignore lint/style/noProcessEnv: the binaries of this machine run behind those of the world
    PATH: `${files.binaries}${delimiter}${process.env.PATH ?? ''}`,
    HOME: files.home,
    TMPDIR: files.temporary,
    LANG: 'C.UTF-8',
    [WORLD_VARIABLE]: pass,
    [PASS_VARIABLE]: '1',
  };
}

/** Returns a random secret with characters that encoders treat differently. */
function randomSecret(): string {
  return `sk+${randomUUID()}/${randomUUID()}=`;
}
