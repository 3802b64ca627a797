import { isDeepStrictEqual } from 'node:util';
import { type RootLeads, resolveReach } from '@ethosagent/policy';
import { type DirectoryReach, directoryReach } from '@ethosagent/process';
import type { Storage, ToolCapabilities } from '@ethosagent/types';
import type { PersonalityFsReach } from '../backends.js';
import { holdStorage } from '../scoped/hold-storage.js';
import { type FsReach, reachOf } from '../scoped/scoped-fs.js';
import { isSameList } from './grant-cache.js';

/** The paths of a tool under one personality, compiled once over the storage. */
export class FsGrant {
  readonly read: ReadonlySet<string>;
  readonly write: ReadonlySet<string>;
  readonly leads: RootLeads;
  readonly #personality: PersonalityFsReach;
  readonly #personalityDeny: readonly string[];
  readonly #deny: readonly string[];
  readonly #declaresPaths: boolean;
  #reach: { storage: Storage; compiled: FsReach } | undefined;
  #narrowed: { storage: Storage; view: Storage } | undefined;
  #directories: DirectoryReach | undefined;

  constructor(
    declared: NonNullable<ToolCapabilities['fs_reach']>,
    personality: PersonalityFsReach,
    deny: readonly string[],
  ) {
    this.#personality = {
      read: [...(personality.read ?? [])],
      write: [...(personality.write ?? [])],
    };
    this.leads = { ...personality.leads };
    this.#personalityDeny = [...(personality.deny ?? [])];
    this.#deny = [...deny, ...this.#personalityDeny];
    this.#declaresPaths = Array.isArray(declared.read) || Array.isArray(declared.write);
    this.read = new Set(resolveReach(declared.read, this.#personality.read));
    this.write = new Set(resolveReach(declared.write, this.#personality.write));
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

  // A path that the tool names may be a link that somebody planted: it is followed within the
  // personality's reach only, where the operator's own roots are followed anywhere.
  #heldToPersonality(storage: Storage): Storage {
    if (!this.#declaresPaths) return storage;
    const { read, write } = this.#personality;
    return holdStorage(storage, { read, write, deny: this.#deny, leads: this.leads });
  }

  /** The turn's storage, held to the declaration. */
  narrow(storage: Storage): Storage {
    if (this.#narrowed?.storage !== storage) {
      const { leads } = this;
      const reach = { read: [...this.read], write: [...this.write], deny: this.#deny, leads };
      this.#narrowed = { storage, view: holdStorage(this.#heldToPersonality(storage), reach) };
    }
    return this.#narrowed.view;
  }

  /** Where the processes of a call may work. */
  get directories(): DirectoryReach {
    if (this.#directories === undefined) {
      const { read, write } = this.#personality;
      this.#directories = directoryReach(this, [...read, ...write], this.#deny);
    }
    return this.#directories;
  }

  isFor(personality: PersonalityFsReach): boolean {
    return (
      isSameList(this.#personality.read, personality.read ?? []) &&
      isSameList(this.#personality.write, personality.write ?? []) &&
      isSameList(this.#personalityDeny, personality.deny ?? []) &&
      isDeepStrictEqual(this.leads, personality.leads ?? {})
    );
  }
}
