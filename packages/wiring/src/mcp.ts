import { readFile, stat } from 'node:fs/promises';
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
import { importOptional } from './optional-packages.js';
import type { RuntimeProblem } from './runtime-problem.js';

/** How the host reaches an MCP server, for a reach lock. */
export interface McpServerIdentity {
  server: string;
  /** The form of the server's name in the names of its tools. */
  part: string;
  /** The command and its arguments, or the URL. Variables are not replaced. */
  reached: readonly string[];
  /** The names of its environment variables, or of its headers. */
  names: readonly string[];
  /** SHA-256 of the whole configuration, with the texts of variables and headers. */
  pin: string;
}

/** The MCP servers of a runtime. `createMcpBridge` of `@ethosagent/tools-mcp` returns this. */
export interface RuntimeMcp {
  /**
   * Connects servers for a personality: the named ones, or all. `waitMs`: milliseconds to wait for
   * them.
   */
  start(
    personality: string,
    servers?: readonly string[],
    opts?: { waitMs?: number },
  ): Promise<unknown>;
  /** Ends the servers of a personality. */
  stop(personality: string): Promise<void>;
  /**
   * Notes on the configuration: parts that are not read, or that may mean something else than
   * intended.
   */
  readonly notes?: readonly string[];
  /** Returns the state of each server, for each personality. */
  status(): {
    server: string;
    personality: string | undefined;
    state: string;
    reason?: string;
    /** What the sandbox of the server has refused, and how to allow it. */
    refused?: string;
    tools: string[];
    held: { tool: string; reason: string }[];
  }[];
  /** Returns how each server is reached, even if it was not started. A reach lock needs this. */
  identities?(): Promise<readonly McpServerIdentity[]>;
  /** Explains why a tool of a server is missing. The model may read this text. */
  whyMissing?(name: string, personality?: string): string | undefined;
  /**
   * Lists the tools that changed since they were accepted, and those that their servers added since
   * (without `old`). They are withheld until they are accepted.
   */
  pending(): { server: string; tool: string; old?: unknown; new: unknown; hash: string }[];
  /**
   * Accepts changed and added tools as they are now: all of a server, or the named one if it has this hash.
   * Returns their names.
   */
  accept(server: string, tool?: string, hash?: string): Promise<string[]>;
  /** Ends the servers. */
  close(): Promise<void>;
}

/** The parts of a runtime that its MCP bridge uses. */
export interface RuntimeMcpParts {
  host: ServiceHost;
  registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  workingDir: string;
  variables: Readonly<Record<string, string>>;
  /** The key-value store that keeps each tool as it was first seen. */
  pins: Pick<KeyValueStore, 'get' | 'set' | 'delete' | 'list'>;
  /**
   * The store of OAuth tokens: the secrets of the runtime if they can be written, otherwise
   * `<home>/secrets`.
   */
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
  const text = await readRegularFile(file).catch((cause: unknown) => {
    throw new EthosError('CONFIG_INVALID', `${file}: can not be read; write it, or leave mcp out`, {
      cause,
    });
  });
  const { createMcpBridge, createPinnedMcpBridge, parseMcpConfig } = await importOptional(
    '@ethosagent/tools-mcp',
  ).catch((cause: unknown) => {
    const problem =
      'mcp needs @ethosagent/tools-mcp, which is not installed; add that package, or leave mcp out (in a bundle, give mcp a function that calls createMcpBridge)';
    throw new EthosError('CONFIG_INVALID', problem, { cause });
  });
  const create = mcp === 'pinned' ? createPinnedMcpBridge : createMcpBridge;
  return create({ ...parts, config: parseMcpConfig(text, file) });
}

/** Refuses a pipe, since the read would wait until somebody writes into it. */
async function readRegularFile(file: string): Promise<string> {
  if (!(await stat(file)).isFile()) throw new Error('it is not a regular file');
  return readFile(file, 'utf8');
}

const METHODS = ['start', 'stop', 'status', 'pending', 'accept', 'close'] as const;

/** Checks the host's bridge now: a wrong object would otherwise fail in the middle of a turn. */
function checkedBridge(bridge: RuntimeMcp): RuntimeMcp {
  const missing = METHODS.filter((name) => typeof Object(bridge)[name] !== 'function');
  if (missing.length === 0) return bridge;
  const problem = `mcp gave no bridge: it has no ${missing.join(', ')}; give what createMcpBridge makes`;
  throw new EthosError('CONFIG_INVALID', problem);
}

/** Finds problems of a personality's servers that an operator should know. */
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
 * Creates the store of tokens. It uses the secrets of the runtime if they can be written, otherwise
 * those of the home.
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
