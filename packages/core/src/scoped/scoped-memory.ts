import {
  CapabilityError,
  EthosError,
  type MemoryChange,
  type MemoryDocument,
  type MemoryMatch,
  type MemoryProvider,
  type MemoryScope,
  type MemoryVersion,
  type ScopedMemory,
} from '@ethosagent/types';
import { type AccessScope, type Allow, recordAccess, textOf } from '../access.js';
import { checkedMemory } from '../checked/checked-memory.js';
import type { MemoryScopes } from './memory-scopes.js';

export interface ScopedMemoryOptions {
  /** What the tool declared. */
  access: 'read' | 'read-write';
  scope?: AccessScope | undefined;
}

/** The memories of one call, by the names of its scopes. Tools never see the ids. */
export class ScopedMemoryImpl implements ScopedMemory {
  readonly scopes: readonly MemoryScope[];
  readonly ownIs?: MemoryScope;
  readonly #provider: MemoryProvider;
  readonly #ids: MemoryScopes;
  readonly #options: ScopedMemoryOptions;

  constructor(provider: MemoryProvider, ids: MemoryScopes, options: ScopedMemoryOptions) {
    this.#provider = checkedMemory(provider);
    this.#ids = ids;
    this.#options = options;
    this.scopes = Object.freeze([...ids.keys()]);
    const own = ids.get('personality');
    const ownIs = this.scopes.find((scope) => scope !== 'personality' && ids.get(scope) === own);
    if (ownIs !== undefined) this.ownIs = ownIs;
  }

  read(scope?: MemoryScope): Promise<MemoryDocument> {
    return this.#access('read', scope, (id, allow) => {
      allow();
      return this.#provider.read(id);
    });
  }

  search(
    query: string,
    opts: { scope?: MemoryScope; limit?: number } = {},
  ): Promise<MemoryMatch[]> {
    const { scope, limit } = opts;
    return this.#access('search', scope, (id, allow) => {
      allow();
      return this.#provider.search(id, textOf(query), limit === undefined ? {} : { limit });
    });
  }

  versions(opts: { scope?: MemoryScope; limit?: number } = {}): Promise<MemoryVersion[]> {
    const { scope, limit } = opts;
    return this.#access('versions', scope, (id, allow) => {
      allow();
      return this.#provider.versions(id, limit === undefined ? {} : { limit });
    });
  }

  change(
    change: MemoryChange,
    opts: { scope?: MemoryScope; expectedRevision?: string } = {},
  ): Promise<MemoryDocument> {
    const { scope, expectedRevision } = opts;
    return this.#access('change', scope, (id, allow) => {
      if (this.#options.access !== 'read-write') {
        throw new CapabilityError(
          'MEMORY_NOT_WRITABLE',
          "the tool declares memory with access 'read'; declare 'read-write' to change it",
          'memory is declared read-only',
        );
      }
      // The tool's object is read once, before the provider gets it: it may answer differently
      // later.
      const { redactor } = this.#options.scope ?? {};
      // Models read a memory, also in later sessions.
      const plain = plainChange(change, (text) => redactor?.redact(text) ?? text);
      allow();
      return this.#provider.change(
        id,
        plain,
        expectedRevision === undefined ? {} : { expectedRevision },
      );
    });
  }

  #access<T>(
    operation: string,
    scope: MemoryScope | undefined,
    run: (id: string, allow: Allow) => Promise<T>,
  ): Promise<T> {
    const name = scope ?? 'personality';
    const id = this.#ids.get(name);
    const access = {
      capability: 'memory',
      operation,
      target: id ?? textOf(name),
      rule: `memory scope ${textOf(name)}`,
    } as const;
    return recordAccess(this.#options.scope, access, async (allow) => {
      if (id === undefined) {
        throw new CapabilityError(
          'MEMORY_SCOPE_NOT_AVAILABLE',
          `this call has no ${quoted(name)} memory; ${this.scopes.length === 0 ? 'it has none at all' : `use one of ${this.scopes.join(', ')}`}`,
          'memory scope not of the call',
        );
      }
      return run(id, allow);
    });
  }
}

/** @param told makes of a text what the memory keeps */
function plainChange(change: MemoryChange, told: (text: string) => string): MemoryChange {
  if (typeof change !== 'object' || change === null) throw malformed('the change', 'an object');
  const { kind } = change;
  switch (kind) {
    case 'add': {
      const { section, text } = change;
      return {
        kind,
        section: told(asText(section, 'section')),
        text: told(asText(text, 'text')),
      };
    }
    case 'replace': {
      const { section, match, text } = change;
      return { kind, ...plainPlace(section, match), text: told(asText(text, 'text')) };
    }
    case 'remove': {
      const { section, match } = change;
      return { kind, ...plainPlace(section, match) };
    }
    default:
      throw malformed('kind', 'add, replace or remove');
  }
}

function plainPlace(
  section: string | undefined,
  match: string | undefined,
): { section?: string; match?: string } {
  if (section === undefined && match === undefined) {
    throw malformed('a change without a section', 'given a match');
  }
  return {
    ...(section !== undefined && { section: asText(section, 'section') }),
    ...(match !== undefined && { match: asText(match, 'match') }),
  };
}

function asText(value: unknown, name: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw malformed(name, 'well-formed text');
}

function malformed(what: string, wanted: string): EthosError {
  return new EthosError('VALUE_INVALID', `memory: ${what} must be ${wanted}`);
}

function quoted(name: unknown): string {
  return JSON.stringify(textOf(name).slice(0, 40));
}
