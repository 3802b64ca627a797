import { isWithin, meetPathLists } from '@ethosagent/policy';
import { type DirectoryReach, directoryReach } from '@ethosagent/process';
import type { AuditWhy, Storage } from '@ethosagent/types';
import type { CallNarrowing } from '../call-narrowing.js';
import type { Access } from '../call-scope.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import { holdStorage } from '../scoped/hold-storage.js';
import { type FsReach, reachOf } from '../scoped/scoped-fs.js';
import type { FileGrant, FsGrant } from './fs-grant.js';

/**
 * What a host leaves of the paths of a call. A folder that the host names may be a link that an
 * attacker planted. So the storage is limited to the whole grant first, and then to what the host
 * leaves.
 */
export class NarrowedFsGrant implements FileGrant {
  readonly read: ReadonlySet<string>;
  readonly write: ReadonlySet<string>;
  readonly #whole: FsGrant;

  constructor(whole: FsGrant, { read, write }: CallNarrowing) {
    this.#whole = whole;
    this.read = left(whole.read, read);
    this.write = left(whole.write, write);
  }

  reach(storage: Storage): FsReach {
    const whole = this.#whole.reach(storage);
    const { read, write } = this;
    const own = reachOf(whole.storage(), { read, write, deny: this.#whole.deny });
    return { ...own, denies: (path) => whole.denies(path) };
  }

  narrow(storage: Storage): Storage {
    const { read, write } = this;
    return holdStorage(this.#whole.narrow(storage), {
      read: [...read],
      write: [...write],
      deny: this.#whole.deny,
    });
  }

  get directories(): DirectoryReach {
    const { read, write } = this;
    const { leads, deny, directories } = this.#whole;
    const whole = directories.shown?.roots ?? [];
    const own = directoryReach(
      { read, write, leads },
      whole.map(({ real }) => real),
      deny,
    );
    const roots = (own.shown?.roots ?? []).filter((root) =>
      whole.some(({ real, writable }) => isWithin(root.real, real) && (writable || !root.writable)),
    );
    return {
      roots: own.roots,
      realRoots: roots.map(({ real }) => real),
      denies: (path) => directories.denies(path),
      ...(directories.shown !== undefined && { shown: { roots, deny: directories.shown.deny } }),
    };
  }

  why(access: Access, policy: PolicyAtOnce): AuditWhy {
    return this.#whole.why(access, policy);
  }

  describe() {
    return this.#whole.describe(this);
  }
}

function left(whole: ReadonlySet<string>, narrowed: readonly string[] | undefined) {
  return narrowed === undefined ? whole : new Set(meetPathLists([...whole], narrowed));
}
