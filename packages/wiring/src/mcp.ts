import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createHomeSecrets } from '@ethosagent/storage-fs';
import {
  EthosError,
  errorCodeOf,
  type KeyValueStore,
  type SecretStore,
  type ServiceHost,
  type ToolRegistry,
} from '@ethosagent/types';
import { hostEnvironment } from './host-environment.js';
import type { RuntimeProblem } from './runtime-problem.js';

/** How an MCP server is reached, for a reach lock. */
export interface McpServerIdentity {
  server: string;
  /** As it stands in the names of its tools. */
  part: string;
  /** The command and its arguments, or the URL, with variables as they are. */
  reached: readonly string[];
  /** The names of its environment variables, or of its headers. */
  names: readonly string[];
  /** SHA-256 of all of it, with the texts of variables and headers. */
  pin: string;
}

/** MCP servers of a runtime: what `createMcpBridge` of `@ethosagent/tools-mcp` makes. */
export interface RuntimeMcp {
  /** Connects servers for a personality; all of them when none are named. */
  start(
    personality: string,
    servers?: readonly string[],
    opts?: { waitMs?: number },
  ): Promise<unknown>;
  /** Ends the servers of a personality. */
  stop(personality: string): Promise<void>;
  /** What of the configuration is not read, or read otherwise than it may be meant. */
  readonly notes?: readonly string[];
  /** How each server stands, for each personality. */
  status(): {
    server: string;
    personality: string | undefined;
    state: string;
    reason?: string;
    /** What its sandbox has refused to it, and how to allow it. */
    refused?: string;
    tools: string[];
    held: { tool: string; reason: string }[];
  }[];
  /** How each server is reached, whether or not it was started. A reach lock needs it. */
  identities?(): Promise<readonly McpServerIdentity[]>;
  /** Why a tool of a server is not there: what a model may read of it. */
  whyMissing?(name: string, personality?: string): string | undefined;
  /** Tools that changed since they were first seen. They are held back until they are accepted. */
  pending(): { server: string; tool: string; old: unknown; new: unknown; hash: string }[];
  /** Accepts them as they are now, and says which. */
  accept(server: string, tool?: string, hash?: string): Promise<string[]>;
  /** Ends the servers. */
  close(): Promise<void>;
}

/** What a runtime gives to its MCP servers. */
export interface RuntimeMcpParts {
  host: ServiceHost;
  registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  workingDir: string;
  variables: Readonly<Record<string, string>>;
  /** What tools were when they were first seen; in the key-value store of the runtime. */
  pins: Pick<KeyValueStore, 'get' | 'set' | 'delete' | 'list'>;
  /** Tokens of OAuth; among the secrets of the runtime where they can be stored, or in `<home>/secrets`. */
  tokens: Pick<KeyValueStore, 'get' | 'set' | 'delete'>;
}

/** Creates the bridge of a runtime. @throws `CONFIG_INVALID` */
export async function openMcp(
  mcp: true | 'pinned' | ((parts: RuntimeMcpParts) => RuntimeMcp),
  home: string,
  parts: RuntimeMcpParts,
): Promise<RuntimeMcp> {
  if (typeof mcp === 'function') return checkedBridge(await mcp(parts));
  if (mcp !== true && mcp !== 'pinned') {
    const problem = "mcp is neither true, 'pinned' nor a function; leave it out";
    throw new EthosError('CONFIG_INVALID', problem);
  }
  const file = join(home, 'mcp.json');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new EthosError('CONFIG_INVALID', `${file}: can not be read; write it, or leave mcp out`, {
      cause,
    });
  });
  const { createMcpBridge, createPinnedMcpBridge, parseMcpConfig } = await import(
    '@ethosagent/tools-mcp'
  ).catch((cause: unknown) => {
    const problem = '@ethosagent/tools-mcp is not installed; mcp needs it';
    throw new EthosError('CONFIG_INVALID', problem, { cause });
  });
  const create = mcp === 'pinned' ? createPinnedMcpBridge : createMcpBridge;
  return create({ ...parts, config: parseMcpConfig(text, file) });
}

const METHODS = ['start', 'stop', 'status', 'pending', 'accept', 'close'] as const;

/** Checks the host's bridge now: a wrong object would otherwise fail in the middle of a turn. */
function checkedBridge(bridge: RuntimeMcp): RuntimeMcp {
  const missing = METHODS.filter((name) => typeof Object(bridge)[name] !== 'function');
  if (missing.length === 0) return bridge;
  const problem = `mcp gave no bridge: it has no ${missing.join(', ')}; give what createMcpBridge makes`;
  throw new EthosError('CONFIG_INVALID', problem);
}

/** What an operator should know about the servers of a personality. */
export function mcpProblems(
  mcp: Pick<RuntimeMcp, 'notes' | 'status'>,
  home: string,
  personalityId: string,
): RuntimeProblem[] {
  const file = join(home, 'mcp.json');
  const { notes = [] } = mcp;
  const servers = mcp.status().filter(({ personality }) => personality === personalityId);
  const waiting = servers.filter(({ state }) => state !== 'ready');
  const held = servers.flatMap(({ server, held }) => held.map((each) => ({ server, ...each })));
  return [
    ...notes.map((message) => ({ file, key: '', tool: '', message, heldBack: false })),
    ...waiting.map(({ server, state, reason }) => ({
      file,
      key: server,
      tool: server,
      message: `${file}: ${server} is ${state}${reason === undefined ? '' : `: ${reason}`}`,
      heldBack: false,
    })),
    ...servers.flatMap(({ server, refused }) =>
      refused === undefined
        ? []
        : {
            file,
            key: server,
            tool: server,
            message: `${file}: ${server}: ${refused}`,
            heldBack: false,
          },
    ),
    ...held.map(({ server, tool, reason }) => ({
      file,
      key: server,
      tool,
      message: `${file}: ${server}: ${tool === '' ? '' : `${JSON.stringify(tool)} is held back: `}${reason}`,
      heldBack: tool !== '',
    })),
  ];
}

/**
 * Stores tokens with the secrets of a runtime. If these can't be written, beside those of the home.
 */
export function tokenStore(home: string, secrets: SecretStore): RuntimeMcpParts['tokens'] {
  const store = canStore(secrets) ? secrets : createHomeSecrets({ home, env: hostEnvironment() });
  return {
    async get(key) {
      try {
        return await store.get(key);
      } catch (error) {
        if (errorCodeOf(error) === 'SECRET_NOT_FOUND') return null;
        throw error;
      }
    },
    set: (key, value) => store.set(key, value),
    delete: (key) => store.delete(key),
  };
}

function canStore(secrets: SecretStore): secrets is Required<SecretStore> {
  return secrets.set !== undefined && secrets.delete !== undefined;
}

/** The variables of the host that an `mcp.json` may use. */
export function hostVariables(): Record<string, string> {
  return { userHome: homedir() };
}
