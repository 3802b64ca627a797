import type { ResolvedGrant } from '@ethosagent/core';
import type { GrantScope, ToolEffect, UntrustedDecision } from '@ethosagent/types';

/** The version of the format. Other versions are not read. */
export const LOCK_VERSION = 1;

/**
 * What the tools of a home may touch at one moment: their declarations, limited by the
 * personalities. Lists are sorted, and paths are absolute.
 */
export interface ReachLock {
  /** The names of the further environment variables that programs get. */
  readonly environment: readonly string[];
  readonly personalities: readonly LockedPersonality[];
  readonly servers: readonly LockedServer[];
  readonly texts: readonly LockedText[];
}

/** A personality, with the tools that it allows. */
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

/** A tool under a personality. */
export interface LockedTool {
  readonly tool: string;
  /** When a call needs approval. `by-call`: a function of the tool decides. */
  readonly approval: 'always' | 'by-call' | 'never';
  readonly effects: readonly ToolEffect[];
  /** Whether other people may have written its results. */
  readonly untrusted: boolean;
  /** Whether the tool keeps its own authority, so that nothing limits or audits what it does. */
  readonly unconfined: boolean;
  /** The personality's settings for the tool, as canonical JSON. */
  readonly settings?: string;
  readonly grant: ResolvedGrant;
}

/** An MCP server, and how the host reaches it. */
export interface LockedServer {
  readonly server: string;
  /** The command and its arguments, or the URL. */
  readonly reached: readonly string[];
  /** The names of its environment variables, or of its headers. */
  readonly names: readonly string[];
  /** SHA-256 of the whole configuration, with the texts of variables and headers. */
  readonly pin: string;
}

/** The texts about a tool that a model reads. */
export interface LockedText {
  readonly tool: string;
  readonly description: string;
  /** The JSON Schema of the arguments, as JSON. Only for a tool of an MCP server. */
  readonly schema?: string;
}
