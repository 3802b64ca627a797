import type {
  AuditCall,
  AuditEvent,
  CapabilityName,
  PersonalityConfig,
  ToolCapabilities,
} from '@ethosagent/types';

/** A tool of a recorded run. */
export interface RecordedTool {
  name: string;
  capabilities: ToolCapabilities;
  /** Whether the personality has the tool today. */
  offered: boolean;
  /** The tool is always included, so the toolset need not name it. */
  alwaysInclude?: boolean;
}

/** The personality, the tools and the folders of a recorded run. */
export interface LeastPrivilegeOptions {
  /** The absolute path that `${CWD}` stands for. */
  cwd: string;
  /** The absolute path that `${ETHOS_HOME}` stands for. */
  home: string;
  /** The absolute path of the user's home. It is never added as a whole. */
  userHome: string;
  /** The personality as its file is now. Nothing is derived that it does not allow. */
  personality: PersonalityConfig;
  tools: readonly RecordedTool[];
  /** Whether a path is a folder. Called for used paths and roots that may be a file or a folder. */
  isFolder(path: string): boolean;
  /** Whether a path leads through a link below the root that allows it. */
  passesLink(path: string, root: string): boolean;
}

/** An entry in a list of a personality's file. */
export interface LeastEntry {
  /** The text of the entry in the file, e.g. `${CWD}/notes`. */
  text: string;
  /** The absolute path that the entry stands for. If it is not a path, the text. */
  value: string;
  /** How many accesses or calls need the entry. */
  accesses: number;
  /** The rule that made the entry, if it is wider than what was used. */
  rule?: string;
}

/** The smallest declaration of a tool, and how often the tool was called. */
export interface LeastDeclaration {
  tool: string;
  capabilities: ToolCapabilities;
  calls: number;
}

/** An access for which no entry was derived. */
export interface NotGranted {
  tool: string;
  /** The capability. `call` stands for the call as a whole. */
  capability: CapabilityName | 'call';
  target: string;
  why: string;
  /** How often the access occurred. */
  count: number;
}

/** A list of the file that stays unchanged, and why. */
export interface KeptList {
  key: 'toolset' | 'fs_reach.read' | 'fs_reach.write' | 'safety.network.allow';
  why: string;
}

/** Exactly what one run needs under one personality. */
export interface LeastPrivilege {
  personality: string;
  /** The declarations of the tools, sorted by name. */
  declarations: readonly LeastDeclaration[];
  toolset: readonly LeastEntry[];
  read: readonly LeastEntry[];
  write: readonly LeastEntry[];
  allow: readonly LeastEntry[];
  kept: readonly KeptList[];
  /** The accesses that were denied in the run. They stay denied. */
  denied: readonly NotGranted[];
  /** The accesses that were allowed in the run, but are not granted automatically. */
  unclear: readonly NotGranted[];
  /** What is declared or allowed, but was never used. */
  unused: readonly string[];
  /** The sessions of the events, each with its number of events. */
  sessions: readonly { id: string; events: number }[];
}

/** Whether an event of the log describes a call as a whole. */
export function isCall(event: AuditEvent | AuditCall): event is AuditCall {
  return 'kind' in event;
}

/** Counts equal messages, so that a thousand equal refusals give one line. */
export class Tally {
  readonly #entries = new Map<string, NotGranted>();

  add(entry: Omit<NotGranted, 'count'>): void {
    const key = JSON.stringify([entry.tool, entry.capability, entry.target, entry.why]);
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, { ...entry, count: 1 });
    else known.count += 1;
  }

  list(): NotGranted[] {
    return [...this.#entries.values()];
  }
}
