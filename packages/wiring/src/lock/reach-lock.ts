import type { ResolvedGrant } from '@ethosagent/core';
import type { GrantScope, ToolEffect, UntrustedDecision } from '@ethosagent/types';

/** The version of the format. Other versions are not read. */
export const LOCK_VERSION = 1;

/**
 * What the tools of a home may touch: the declarations met with the personalities, at one moment.
 * Lists are sorted, paths absolute.
 */
export interface ReachLock {
  /** Names of the variables that programs get beside the usual ones. */
  readonly environment: readonly string[];
  readonly personalities: readonly LockedPersonality[];
  readonly servers: readonly LockedServer[];
  readonly texts: readonly LockedText[];
}

/** One personality, with the tools that it lets in. */
export interface LockedPersonality {
  readonly personality: string;
  readonly approvals: {
    readonly grants: readonly GrantScope[];
    readonly sub_agents: 'inherit' | 'none';
  };
  readonly untrusted: Readonly<Record<ToolEffect, UntrustedDecision>> & {
    readonly trust: readonly string[];
  };
  /** The MCP servers that are started for it. */
  readonly servers: readonly string[];
  readonly tools: readonly LockedTool[];
}

/** One tool under a personality. */
export interface LockedTool {
  readonly tool: string;
  /** `by-call`: a function of the tool decides. */
  readonly approval: 'always' | 'by-call' | 'never';
  readonly effects: readonly ToolEffect[];
  /** Whether its results count as written by others. */
  readonly untrusted: boolean;
  /** It keeps its own authority. */
  readonly unconfined: boolean;
  /** What the personality sets for it, as canonical JSON. */
  readonly settings?: string;
  readonly grant: ResolvedGrant;
}

/** An MCP server, as it is reached. */
export interface LockedServer {
  readonly server: string;
  /** The command and its arguments, or the URL. */
  readonly reached: readonly string[];
  /** The names of its environment variables, or of its headers. */
  readonly names: readonly string[];
  /** SHA-256 of all of it, with the texts of variables and headers. */
  readonly pin: string;
}

/** What a model is told of a tool. */
export interface LockedText {
  readonly tool: string;
  readonly description: string;
  /** JSON Schema of the arguments of a tool of an MCP server, as JSON. */
  readonly schema?: string;
}
