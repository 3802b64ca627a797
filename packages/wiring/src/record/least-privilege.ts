import type {
  AuditCall,
  AuditEvent,
  CapabilityName,
  PersonalityConfig,
  ToolCapabilities,
} from '@ethosagent/types';

/** What the recorder knows of a tool beside its events. */
export interface RecordedTool {
  name: string;
  capabilities: ToolCapabilities;
  /** Whether the personality has it today. */
  offered: boolean;
  /** It is in whatever the toolset says, so the toolset need not name it. */
  alwaysInclude?: boolean;
}

/** What a run is judged against. */
export interface LeastPrivilegeOptions {
  /** What `${CWD}` stands for: an absolute path. */
  cwd: string;
  /** What `${ETHOS_HOME}` stands for: an absolute path. */
  home: string;
  /** The home of the user, which no folder is generalised to. Absolute. */
  userHome: string;
  /** The personality as its file says now. Nothing is derived that it does not allow. */
  personality: PersonalityConfig;
  tools: readonly RecordedTool[];
  /** Whether a path is a folder. Called for what was looked at and may be either. */
  isFolder(path: string): boolean;
  /** Whether a path passes a link below the root that allows it. */
  passesLink(path: string, root: string): boolean;
}

/** An entry of a list of a personality's file. */
export interface LeastEntry {
  /** As the file says it: `${CWD}/notes`. */
  text: string;
  /** What it stands for: an absolute path; the text where it is no path. */
  value: string;
  /** How many accesses, or calls, need it. */
  accesses: number;
  /** The rule that made it, where it is wider than what was touched. */
  rule?: string;
}

/** The smallest declaration of one tool. */
export interface LeastDeclaration {
  tool: string;
  capabilities: ToolCapabilities;
  calls: number;
}

/** An access that no entry was made for. */
export interface NotGranted {
  tool: string;
  /** `call` for a call as a whole. */
  capability: CapabilityName | 'call';
  target: string;
  why: string;
  /** How often. */
  count: number;
}

/** A list of the file that is left as it is. */
export interface KeptList {
  key: 'toolset' | 'fs_reach.read' | 'fs_reach.write' | 'safety.network.allow';
  why: string;
}

/** What exactly one run needs, under one personality. */
export interface LeastPrivilege {
  personality: string;
  /** By tool, in the order of the names. */
  declarations: readonly LeastDeclaration[];
  toolset: readonly LeastEntry[];
  read: readonly LeastEntry[];
  write: readonly LeastEntry[];
  allow: readonly LeastEntry[];
  kept: readonly KeptList[];
  /** What was refused in the run. It stays refused. */
  denied: readonly NotGranted[];
  /** What was allowed in the run and is not granted by itself. */
  unclear: readonly NotGranted[];
  /** What is declared or allowed and was never used. */
  unused: readonly string[];
  /** The sessions that the events are of, with their numbers of events. */
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
