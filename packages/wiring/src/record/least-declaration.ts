import { declaredRef, meetHostLists, secretRefMatches } from '@ethosagent/policy';
import {
  type AuditEvent,
  CAPABILITIES,
  type SecretDeclaration,
  type ToolCapabilities,
} from '@ethosagent/types';
import { type FolderOptions, leastFolders, pathsOf } from './least-folders.js';
import { compileHostList, hostOf, leastHosts } from './least-hosts.js';

/** The present declaration of a tool, and the accesses that the new one must allow. */
export interface DeclarationInput {
  /** What the tool declares today; `undefined` for an unknown tool. */
  declared: ToolCapabilities | undefined;
  /** The allowed accesses of the tool that can be used. */
  events: readonly AuditEvent[];
  folders: Omit<FolderOptions, 'roots'>;
}

/**
 * The smallest declaration that gives a tool what it used, within what it declares today. Details
 * of a used capability that the log does not contain (a scope, a time to live, media types) stay as
 * declared.
 */
export function leastDeclaration({
  declared,
  events,
  folders,
}: DeclarationInput): ToolCapabilities {
  const of = (...names: AuditEvent['capability'][]) =>
    events.filter(({ capability }) => names.includes(capability));
  const hosts = of('network').flatMap(({ target }) => hostOf(target) ?? []);
  const allowedHosts = [
    ...leastHosts(hosts, compileHostList(declared?.network?.allowedHosts)).keys(),
  ];
  const read = pathsFor('read', { declared, events: of('fs_reach.read'), folders });
  const write = pathsFor('write', { declared, events: of('fs_reach.write'), folders });
  const secrets = secretsOf(of('secrets'), { declared, allowedHosts });
  const processes = of('process');
  const uses = (key: keyof ToolCapabilities) => of(...CAPABILITIES[key].names).length > 0;
  const isBackground = of('delegation').some(({ operation }) => operation !== 'run');
  return {
    ...asDeclared(declared, uses),
    ...(allowedHosts.length > 0 && { network: { allowedHosts } }),
    ...(secrets.length > 0 && { secrets }),
    ...((read !== undefined || write !== undefined) && {
      fs_reach: { ...(read !== undefined && { read }), ...(write !== undefined && { write }) },
    }),
    ...(processes.length > 0 && { process: processOf(processes, declared) }),
    ...(uses('attachments') && { attachments: { ...declared?.attachments } }),
    ...(uses('memory') && {
      memory: {
        access: of('memory').some(({ operation }) => operation === 'change')
          ? ('read-write' as const)
          : ('read' as const),
      },
    }),
    ...(uses('sessions') && { sessions: { access: 'read' as const } }),
    ...(uses('service') && { service: { scope: 'session' as const } }),
    ...(uses('delegation') && { delegation: { ...(isBackground && { background: true }) } }),
  };
}

/**
 * The used part of a declaration, for capabilities of which a log does not say how much was used.
 */
function asDeclared(
  declared: ToolCapabilities = {},
  uses: (key: keyof ToolCapabilities) => boolean,
): ToolCapabilities {
  return Object.fromEntries(
    Object.entries(structuredClone(declared)).filter(
      ([key]) => isCapability(key) && !DERIVED.has(key) && uses(key),
    ),
  );
}

/** For these capabilities, the declaration is derived only from the accesses. */
const DERIVED: ReadonlySet<string> = new Set(['network', 'secrets', 'fs_reach', 'process']);

function isCapability(key: string): key is keyof typeof CAPABILITIES {
  return Object.hasOwn(CAPABILITIES, key);
}

function pathsFor(
  kind: 'read' | 'write',
  { declared, events, folders }: DeclarationInput,
): string[] | 'from-personality' | undefined {
  if (events.length === 0) return undefined;
  const today = declared?.fs_reach?.[kind];
  if (!Array.isArray(today)) return 'from-personality';
  const accesses = events.flatMap((event) =>
    (pathsOf(event, folders.cwd) ?? []).map((path) => ({ operation: event.operation, path })),
  );
  return leastFolders(accesses, { ...folders, roots: today }).entries.map(({ value }) => value);
}

function secretsOf(
  events: readonly AuditEvent[],
  {
    declared,
    allowedHosts,
  }: { declared: ToolCapabilities | undefined; allowedHosts: readonly string[] },
): SecretDeclaration[] {
  const refs = [...new Set(events.map(({ target }) => target))].sort();
  return refs.map((ref): SecretDeclaration => {
    const today = declared?.secrets?.find(
      (each) => declaredRef(each) === ref || secretRefMatches(declaredRef(each), ref),
    );
    if (today === undefined || typeof today === 'string') return ref;
    const hosts = meetHostLists(today.hosts, allowedHosts);
    return { ref, hosts: hosts.length > 0 ? hosts : [...today.hosts] };
  });
}

/** These operations name a running process by its id. They need the binary that started it. */
const STARTS = new Set(['list', 'read', 'stop']);

function processOf(
  events: readonly AuditEvent[],
  declared: ToolCapabilities | undefined,
): NonNullable<ToolCapabilities['process']> {
  const started = events.filter(({ operation }) => !STARTS.has(operation));
  const isBackground = events.some(
    ({ operation }) => operation === 'start' || STARTS.has(operation),
  );
  return {
    allowedBinaries: [...new Set(started.map(({ target }) => target))].sort(),
    ...(declared?.process?.sandbox !== undefined && { sandbox: declared.process.sandbox }),
    ...(isBackground && { background: true }),
  };
}
