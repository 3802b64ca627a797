import {
  compilePathSet,
  coveringPathEntry,
  leadOf,
  normalizePath,
  type PathSet,
  type RootLeads,
  resolveReach,
} from '@ethosagent/policy';
import { type DirectoryReach, directoryReach, realPathOf } from '@ethosagent/process';
import type { AuditWhy, Storage, ToolCapabilities } from '@ethosagent/types';
import type { PersonalityFsReach } from '../backends.js';
import type { Access } from '../call-scope.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import { holdStorage } from '../scoped/hold-storage.js';
import { type FsReach, reachOf } from '../scoped/scoped-fs.js';
import { declaredEntry, declaredPart } from './declared-part.js';
import { isSameList } from './grant-cache.js';
import type { ResolvedGrant } from './resolved-grant.js';
import { withParents } from './with-parents.js';

/** The paths that no personality opens. */
export interface FsDeny {
  /** The deny floor, which is the same for every host. */
  readonly floor: readonly string[];
  /** The paths that the host adds now. */
  added(): readonly string[];
}

/** The paths that a tool declares. */
export interface DeclaredFiles {
  readonly reach: NonNullable<ToolCapabilities['fs_reach']>;
  /** As `placesOf` gives them when the tool is registered. */
  readonly places: ReadonlyMap<string, string>;
}

/** Where paths lead now, by the path without redundant parts. */
export function placesOf(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.map((path) => [normalizePath(path), realPathOf(path) ?? path]));
}

/** The paths that a call may reach. */
export interface FileGrant {
  readonly read: ReadonlySet<string>;
  readonly write: ReadonlySet<string>;
  /** The folders in which the processes of the call may start. */
  readonly directories: DirectoryReach;
  reach(storage: Storage): FsReach;
  /** The turn's storage, limited to the declaration. */
  narrow(storage: Storage): Storage;
  /** What decided an access: an entry of the declaration, and one of the personality. */
  why(access: Access, policy: PolicyAtOnce): AuditWhy;
  describe(): NonNullable<ResolvedGrant['fs_reach']>;
}

/** The paths of a tool under one personality, compiled once for a storage. */
export class FsGrant implements FileGrant {
  readonly read: ReadonlySet<string>;
  readonly write: ReadonlySet<string>;
  readonly leads: RootLeads;
  readonly #declared: DeclaredFiles['reach'];
  readonly #personality: PersonalityFsReach;
  /** Where each root of the reach comes from, by kind and root. */
  readonly #origins = new Map<string, { declared: string; index: number | undefined }>();
  readonly #personalityDeny: readonly string[];
  readonly #hostDeny: FsDeny;
  readonly #added: readonly string[];
  readonly #deny: readonly string[];
  readonly #floor: ReadonlySet<string>;
  readonly #declaresPaths: boolean;
  #sets: { read: PathSet; write: PathSet } | undefined;
  #reach: { storage: Storage; compiled: FsReach } | undefined;
  #narrowed: { storage: Storage; view: Storage } | undefined;
  #directories: DirectoryReach | undefined;

  constructor(
    { reach: declared, places }: DeclaredFiles,
    personality: PersonalityFsReach,
    deny: FsDeny,
  ) {
    this.#declared = declared;
    this.#personality = {
      read: [...(personality.read ?? [])],
      write: [...(personality.write ?? [])],
      leads: { ...personality.leads },
    };
    this.#personalityDeny = [...(personality.deny ?? [])];
    this.#floor = new Set(deny.floor);
    this.#hostDeny = deny;
    this.#added = [...deny.added()];
    this.#deny = [...deny.floor, ...this.#added, ...this.#personalityDeny];
    this.#declaresPaths = Array.isArray(declared.read) || Array.isArray(declared.write);
    this.read = new Set(resolveReach(declared.read, this.#personality.read));
    this.write = new Set(resolveReach(declared.write, this.#personality.write));
    this.leads = { ...this.#leadsOfDeclared(places, personality.leads), ...personality.leads };
  }

  /**
   * Where the paths of the tool lead. They lead where they led when the tool was registered, even if
   * something else stands there now, which a call may have put there.
   */
  #leadsOfDeclared(places: DeclaredFiles['places'], known: RootLeads | undefined): RootLeads {
    if (!this.#declaresPaths) return NO_LEADS;
    return Object.fromEntries(
      [...this.read, ...this.write].flatMap((root) => {
        const place = places.get(normalizePath(root));
        const lead = leadOf(root, known, (path) => place ?? realPathOf(path) ?? path);
        return lead === undefined ? [] : [[root, lead]];
      }),
    );
  }

  reach(storage: Storage): FsReach {
    if (this.#reach?.storage !== storage) {
      const within = this.#heldToPersonality(storage);
      const { read, write, leads } = this;
      const paths = { read, write, leads, deny: this.#deny };
      this.#reach = { storage, compiled: reachOf(within, paths) };
    }
    return this.#reach.compiled;
  }

  // A path that the tool names may be a link that an attacker planted, so it is followed only
  // within the personality's reach. The operator's own roots are followed anywhere.
  #heldToPersonality(storage: Storage): Storage {
    if (!this.#declaresPaths) return storage;
    const { read, write } = this.#personality;
    return holdStorage(storage, { read, write, deny: this.#deny, leads: this.leads });
  }

  narrow(storage: Storage): Storage {
    if (this.#narrowed?.storage !== storage) {
      const { leads } = this;
      const reach = { read: [...this.read], write: [...this.write], deny: this.#deny, leads };
      this.#narrowed = { storage, view: holdStorage(this.#heldToPersonality(storage), reach) };
    }
    return this.#narrowed.view;
  }

  get directories(): DirectoryReach {
    if (this.#directories === undefined) {
      const { read, write } = this.#personality;
      this.#directories = directoryReach(this, [...read, ...write], this.#deny);
    }
    return this.#directories;
  }

  /**
   * The grant as data. Of the denied paths, it lists those within this reach that are not part of
   * the floor.
   */
  describe({ read, write }: Pick<FileGrant, 'read' | 'write'> = this) {
    const roots = [...read, ...write];
    const around = withParents(roots);
    const leads = Object.entries(this.leads).filter(
      ([root, lead]) => lead !== this.#leadAsNamed(root) && around.has(normalizePath(root)),
    );
    const places = [...roots, ...leads.map(([, lead]) => lead)];
    const added = compilePathSet(this.#deny.filter((path) => !this.#floor.has(path))).roots;
    const inPlaces = compilePathSet(places);
    const aroundPlaces = withParents(places);
    const deny = added.filter(
      (path) => inPlaces.covers(path) !== undefined || aroundPlaces.has(path),
    );
    return {
      read: [...read],
      write: [...write],
      ...(deny.length > 0 && { deny }),
      ...(leads.length > 0 && { leads: Object.fromEntries(leads) }),
      ...this.#staying(read, write),
    };
  }

  /** Where a root is if it is no link, other than those that the personality names. */
  #leadAsNamed(root: string): string | undefined {
    const { leads } = this.#personality;
    return ownLead(leads ?? NO_LEADS, root) === undefined
      ? leadOf(root, leads, (path) => path)
      : root;
  }

  /**
   * The roots of the personality that can't be moved or removed by a tool that declares paths of
   * its own.
   */
  #staying(read: ReadonlySet<string>, write: ReadonlySet<string>): { stays?: string[] } {
    if (!this.#declaresPaths) return {};
    const { read: mayRead, write: mayWrite } = this.#personality;
    const roots = [mayRead, mayWrite].flatMap((paths) => [...compilePathSet(paths ?? []).roots]);
    const places = roots.flatMap((root) => [root, this.leads[root] ?? root]);
    const writable = compilePathSet(write);
    const stays = places.filter(
      (place) => !read.has(place) && !write.has(place) && writable.covers(place) !== undefined,
    );
    return stays.length === 0 ? {} : { stays: [...new Set(stays)].sort() };
  }

  /** The paths that are denied whatever the reach is. */
  get deny(): readonly string[] {
    return this.#deny;
  }

  why({ capability, basis = {} }: Access, policy: PolicyAtOnce): AuditWhy {
    const kind = capability === 'fs_reach.write' ? 'write' : 'read';
    const part = `fs_reach.${kind}` as const;
    const asked = basis.asked?.find((path) => this.#rootOf(kind, path) === undefined);
    const [first] = asked === undefined ? (basis.asked ?? []) : [];
    const root = basis.covers ?? (first && this.#rootOf(kind, first));
    const { declared, index } =
      root === undefined ? this.#originOf(kind, asked) : this.#knownOrigin(kind, root);
    // A path that the tool does not declare has no entry of the personality.
    if (declared === part) return { declared, policy: [] };
    return { declared, policy: policy.placesOf(part, this.#personality[kind], index) };
  }

  /** Uses the same sets as the decision. */
  #rootOf(kind: 'read' | 'write', path: string): string | undefined {
    this.#sets ??= { read: compilePathSet(this.read), write: compilePathSet(this.write) };
    return this.#sets[kind].covers(path);
  }

  #knownOrigin(kind: 'read' | 'write', root: string) {
    const key = `${kind} ${root}`;
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = this.#originOf(kind, root);
      this.#origins.set(key, origin);
    }
    return origin;
  }

  #originOf(kind: 'read' | 'write', path: string | undefined) {
    const part = `fs_reach.${kind}`;
    const { [kind]: own } = this.#declared;
    const index = path === undefined ? undefined : coveringPathEntry(this.#personality[kind], path);
    if (own === undefined || own === 'from-personality') {
      return { declared: own === undefined ? part : declaredPart(part, own), index };
    }
    const at = path === undefined ? undefined : coveringPathEntry(own, path);
    return { declared: declaredEntry(part, own, at), index };
  }

  isFor(personality: PersonalityFsReach): boolean {
    return (
      isSameList(this.#personality.read, personality.read ?? NOTHING) &&
      isSameList(this.#personality.write, personality.write ?? NOTHING) &&
      isSameList(this.#personalityDeny, personality.deny ?? NOTHING) &&
      isSameList(this.#added, this.#hostDeny.added()) &&
      isSameLeads(this.#personality.leads, personality.leads)
    );
  }
}

const NOTHING: readonly string[] = [];
const NO_LEADS: RootLeads = {};

function isSameLeads(a: RootLeads = NO_LEADS, b: RootLeads = NO_LEADS): boolean {
  return hasLeadsOf(a, b) && hasLeadsOf(b, a);
}

function hasLeadsOf(a: RootLeads, b: RootLeads): boolean {
  for (const root in b) if (Object.hasOwn(b, root) && ownLead(a, root) !== b[root]) return false;
  return true;
}

function ownLead(leads: RootLeads, root: string): string | undefined {
  return Object.hasOwn(leads, root) ? leads[root] : undefined;
}
