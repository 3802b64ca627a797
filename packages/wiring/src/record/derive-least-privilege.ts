import {
  compilePathSet,
  isMcpToolName,
  isPortAllowed,
  isWithin,
  parseHostPattern,
} from '@ethosagent/policy';
import type { AuditCall, AuditEvent } from '@ethosagent/types';
import { pathVariables } from '../personality-file.js';
import { leastDeclaration } from './least-declaration.js';
import { type FileAccess, type FolderOptions, leastFolders, pathsOf } from './least-folders.js';
import {
  changedRequest,
  compileHostList,
  type HostAccess,
  type HostList,
  hostOf,
  leastHosts,
  needsConsent,
  portText,
} from './least-hosts.js';
import {
  isCall,
  type KeptList,
  type LeastEntry,
  type LeastPrivilege,
  type LeastPrivilegeOptions,
  type RecordedTool,
  Tally,
} from './least-privilege.js';
import { unusedOf } from './unused.js';

const CUT_OR_REDACTED = /…$|\[secret:/;

/**
 * Derives the least that a recorded run needs: the smallest declaration of each tool, and the
 * smallest lists of the personality, that allow every recorded allowed access. The result only
 * narrows. It contains nothing that was denied, no `*`, no private address, and nothing that the
 * personality does not allow today.
 *
 * A used file adds its folder. Three or more sibling folders add their parent, if the personality
 * reaches all of it today. `/`, the user's home, the working directory and the home of the runtime
 * are never added as a whole; then only the path itself is added.
 *
 * @param events the events from `readAuditLogs`; those of other personalities are ignored
 * @param options the personality, its tools, and the folders that are never added as a whole
 * @returns the declarations and the lists
 */
export function deriveLeastPrivilege(
  events: readonly (AuditEvent | AuditCall)[],
  options: LeastPrivilegeOptions,
): LeastPrivilege {
  const { personality } = options;
  const mine = events.filter((event) =>
    // `a/b` ran under what both allow, so both need what it used.
    event.personalityId?.split('/').includes(personality.id),
  );
  const run = new RecordedRun(mine, options);
  const kept = run.keptLists();
  const isKept = (key: KeptList['key']) => kept.some((each) => each.key === key);
  const read = isKept('fs_reach.read') ? [] : run.folders('read');
  const write = isKept('fs_reach.write') ? [] : run.folders('write');
  const allow = isKept('safety.network.allow') ? [] : run.hosts();
  const declarations = run.declarations();
  return {
    personality: personality.id,
    declarations,
    toolset: run.toolset(),
    read,
    write,
    allow,
    kept,
    denied: run.denied.list(),
    unclear: run.unclear.list(),
    unused: unusedOf({
      options,
      declarations,
      policy: { toolset: run.toolset(), read, write, allow },
      kept,
    }),
    sessions: sessionsOf(mine),
  };
}

/**
 * The events of one personality, sorted into those that can be granted and those that are only
 * reported.
 */
class RecordedRun {
  readonly denied = new Tally();
  readonly unclear = new Tally();
  readonly #options: LeastPrivilegeOptions;
  readonly #tools: ReadonlyMap<string, RecordedTool>;
  /** The hosts that the personality allows today. */
  readonly #today: HostList;
  readonly #calls = new Map<string, number>();
  readonly #accesses: AuditEvent[] = [];
  readonly #files: Record<'read' | 'write', FileAccess[]> = { read: [], write: [] };
  readonly #hosts: (HostAccess & { declared: readonly string[] })[] = [];
  /** Private machines that the operator has already named. */
  readonly #consented = new Map<string, number>();

  constructor(events: readonly (AuditEvent | AuditCall)[], options: LeastPrivilegeOptions) {
    this.#options = options;
    this.#today = compileHostList(options.personality.safety?.network?.allow);
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    for (const event of events) {
      if (isCall(event)) this.#addCall(event);
      else if (event.decision === 'denied') {
        const { toolName: tool, capability, target, reason: why } = event;
        this.denied.add({ tool, capability, target, why });
      } else this.#addAccess(event);
    }
  }

  #addCall({ toolName: tool, gate, approval }: AuditCall): void {
    if (gate !== undefined) {
      const why =
        approval?.approved === false
          ? `refused at the gate ${gate}: ${approval.reason}`
          : `refused at the gate ${gate}`;
      this.denied.add({ tool, capability: 'call', target: tool, why });
      return;
    }
    if (this.#isOffered(tool)) this.#calls.set(tool, (this.#calls.get(tool) ?? 0) + 1);
    else {
      const why = 'the personality does not offer the tool today';
      this.unclear.add({ tool, capability: 'call', target: tool, why });
    }
  }

  #addAccess(event: AuditEvent): void {
    const { toolName: tool, capability, target } = event;
    const why = this.#doubt(event);
    if (why !== undefined) {
      this.unclear.add({ tool, capability, target, why });
      return;
    }
    this.#accesses.push(event);
    // A call that has not ended, or whose process died, has used its tool too.
    if (!this.#calls.has(tool)) this.#calls.set(tool, 0);
  }

  /**
   * Why an allowed access is not granted automatically. If there is no reason, adds it to the
   * lists.
   */
  #doubt(event: AuditEvent): string | undefined {
    if (!this.#isOffered(event.toolName)) return 'the personality does not offer the tool today';
    switch (event.capability) {
      case 'network':
        return this.#addHost(event);
      case 'fs_reach.read':
        return this.#addFile('read', event);
      case 'fs_reach.write':
        return this.#addFile('write', event);
      case 'secrets':
      case 'process':
        return CUT_OR_REDACTED.test(event.target)
          ? 'the log does not hold the whole name'
          : undefined;
      default:
        return undefined;
    }
  }

  #addHost({ target, toolName }: AuditEvent): string | undefined {
    const access = hostOf(target);
    if (access === undefined) return 'the log does not say which host this is';
    const today = this.#today;
    if (needsConsent(access.host)) {
      const named = today.naming(access);
      if (named === undefined) {
        return 'a private address: only you can allow it, by naming it in safety.network.allow';
      }
      this.#consented.set(named, (this.#consented.get(named) ?? 0) + 1);
      return undefined;
    }
    if (!isPortAllowed(access.port, true)) return 'no rule opens this port';
    if (!today.covers(portText(access.host, access.port)))
      return 'safety.network.allow does not cover it today';
    const declared = this.#tools.get(toolName)?.capabilities.network?.allowedHosts ?? [];
    this.#hosts.push({ ...access, declared });
    return undefined;
  }

  #addFile(kind: 'read' | 'write', event: AuditEvent): string | undefined {
    const { operation, target } = event;
    if (CUT_OR_REDACTED.test(target)) return 'the log does not hold the whole path';
    const paths = pathsOf(event, this.#options.cwd);
    if (paths === undefined) return 'the log does not say which two paths these are';
    const { home, personality } = this.#options;
    const today = compilePathSet(personality.fs_reach?.[kind] ?? []);
    const roots = [...(personality.fs_reach?.read ?? []), ...(personality.fs_reach?.write ?? [])];
    const isHomeClosed = roots.some((root) => isWithin(home, root));
    for (const path of paths) {
      const root = today.covers(path);
      if (root === undefined) return `fs_reach.${kind} does not cover it today`;
      if (isHomeClosed && isWithin(path, home)) {
        return 'it is in the home, which a wider folder of fs_reach closes today';
      }
      if (this.#options.passesLink(path, root)) {
        return 'it passes a link, and who can change the link could change the reach; name the folder that is meant';
      }
      const { entries } = leastFolders([{ operation, path }], this.#folderOptions(kind, []));
      if (entries.length === 0) {
        return 'it is too wide to be granted because it was used, or no entry can say it; name the folder that is meant';
      }
    }
    this.#files[kind].push(...paths.map((path) => ({ operation, path })));
    return undefined;
  }

  #isOffered(name: string): boolean {
    const tool = this.#tools.get(name);
    if (tool !== undefined) return tool.offered;
    const { toolset } = this.#options.personality;
    // The name must have a visible character, as every entry of a toolset must.
    return /\S/u.test(name) && (toolset === undefined || toolset.includes(name));
  }

  #folderOptions(kind: 'read' | 'write', moved: readonly string[]): FolderOptions {
    const { cwd, home, userHome, isFolder, personality } = this.#options;
    return {
      cwd,
      home,
      userHome,
      moved,
      isFolder: (path) => isFolder(path),
      roots: personality.fs_reach?.[kind] ?? [],
      variables: pathVariables({ home, cwd }, personality.id),
    };
  }

  get #moved(): string[] {
    return this.#files.write
      .filter(({ operation }) => operation === 'remove' || operation === 'rename')
      .map(({ path }) => path);
  }

  folders(kind: 'read' | 'write'): LeastEntry[] {
    return leastFolders(this.#files[kind], this.#folderOptions(kind, this.#moved)).entries;
  }

  hosts(): LeastEntry[] {
    const found = [...leastHosts(this.#hosts, this.#today), ...this.#consented];
    return found.map(([text, accesses]) => ({ text, value: text, accesses }));
  }

  toolset(): LeastEntry[] {
    const { toolset } = this.#options.personality;
    const names = [...this.#calls].filter(([name]) => {
      if (toolset?.includes(name)) return true;
      // A toolset does not decide on MCP servers, nor on tools that are always included.
      return this.#tools.get(name)?.alwaysInclude !== true && !isMcpToolName(name);
    });
    return names
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, accesses]) => ({ text: name, value: name, accesses }));
  }

  declarations(): LeastPrivilege['declarations'] {
    const folders = this.#folderOptions('read', this.#moved);
    const eventsOf = new Map<string, AuditEvent[]>();
    for (const event of this.#accesses) {
      const events = eventsOf.get(event.toolName);
      if (events === undefined) eventsOf.set(event.toolName, [event]);
      else events.push(event);
    }
    return [...this.#calls.keys()].sort().map((tool) => ({
      tool,
      calls: this.#calls.get(tool) ?? 0,
      capabilities: leastDeclaration({
        declared: this.#tools.get(tool)?.capabilities,
        events: eventsOf.get(tool) ?? [],
        folders,
      }),
    }));
  }

  keptLists(): KeptList[] {
    const kept: KeptList[] = [];
    const spawning = this.#accesses.find(
      ({ capability, toolName }) =>
        capability === 'process' &&
        (this.#tools.get(toolName)?.capabilities.fs_reach !== undefined ||
          !this.#tools.has(toolName)),
    );
    if (spawning !== undefined) {
      const why = `${spawning.toolName} started processes, and the log does not tell which files they open`;
      kept.push({ key: 'fs_reach.read', why }, { key: 'fs_reach.write', why });
    }
    const stay = this.#options.tools.filter(
      ({ name, offered, alwaysInclude }) =>
        this.#calls.has(name) || (offered && (alwaysInclude || isMcpToolName(name))),
    );
    const any = stay.find(({ capabilities }) =>
      capabilities.network?.allowedHosts.some((host) => parseHostPattern(host)?.kind === 'any'),
    )?.name;
    if (any !== undefined && this.#options.personality.safety?.network?.allow === undefined) {
      const why = `${any} declares "*", which is nothing without this list and would be all of it with one`;
      kept.push({ key: 'safety.network.allow', why });
    } else {
      const changed = changedRequest(this.#hosts, {
        before: this.#options.personality.safety?.network?.allow,
        after: this.hosts().map(({ text }) => text),
        declared: stay.map(({ capabilities }) => capabilities.network?.allowedHosts ?? []),
      });
      if (changed !== undefined) {
        const why = `port ${changed.port} of ${changed.host} is open to some tools alone, which no narrower list can say`;
        kept.push({ key: 'safety.network.allow', why });
      }
    }
    return kept;
  }
}

function sessionsOf(events: readonly (AuditEvent | AuditCall)[]): LeastPrivilege['sessions'] {
  const counts = new Map<string, number>();
  for (const { sessionId } of events) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
  return [...counts].map(([id, count]) => ({ id, events: count }));
}
