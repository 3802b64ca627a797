import type {
  BackgroundProcesses,
  CAPABILITIES,
  ScopedDelegation,
  ScopedFs,
  ScopedMemory,
  ScopedProcess,
  Storage,
  ToolAccessorName,
  ToolCapabilities,
  ToolContext,
} from '@ethosagent/types';

/** The part of the context that every tool has, whatever it declares. */
export interface ToolTurn extends Omit<ToolContext, ToolAccessorName> {}

/** No value has this type. The compiler's error names what the tool has to declare. */
interface NotDeclared<Capability extends string> {
  readonly declare: Capability;
}

/**
 * The methods `Names` of an accessor, which can't be called. They stay in the type, so that the
 * accessor can be passed to a helper that takes the whole accessor.
 */
type Refusing<
  Accessor extends Record<Names, (first: never, ...rest: never[]) => unknown>,
  Names extends keyof Accessor,
  Capability extends string,
> = {
  [Name in Names]: (
    argument: Parameters<Accessor[Name]>[0] & NotDeclared<Capability>,
    ...rest: unknown[]
  ) => Promise<never>;
};

type FsReading = 'read' | 'readBytes' | 'exists' | 'list' | 'listEntries' | 'mtime';
type FsWriting = 'write' | 'append' | 'mkdir' | 'remove' | 'rename';

interface ReadOnlyFs
  extends Pick<ScopedFs, FsReading>,
    Refusing<ScopedFs, FsWriting, 'fs_reach.write'> {}

interface WriteOnlyFs
  extends Pick<ScopedFs, FsWriting>,
    Refusing<ScopedFs, FsReading, 'fs_reach.read'> {}

interface ReadOnlyStorage
  extends Pick<Storage, FsReading | 'contained'>,
    Refusing<Required<Storage>, FsWriting, 'fs_reach.write'> {}

interface WriteOnlyStorage
  extends Pick<Storage, FsWriting | 'contained'>,
    Refusing<Storage, FsReading, 'fs_reach.read'> {}

interface ReadOnlyMemory
  extends Omit<ScopedMemory, 'change'>,
    Refusing<ScopedMemory, 'change', "memory.access: 'read-write'"> {}

interface ForegroundDelegation
  extends Omit<ScopedDelegation, 'start'>,
    Refusing<ScopedDelegation, 'start', 'delegation.background: true'> {}

/** The accessor of each capability. `fs_reach` also gives `storage`. */
type AccessorNames = {
  -readonly [K in keyof typeof CAPABILITIES]: (typeof CAPABILITIES)[K]['accessor'];
};

/** The accessors whose type depends on the declaration of their capability. */
interface NarrowedAccessors<Declared> {
  fs_reach: ByReach<Declared, ScopedFs, ReadOnlyFs, WriteOnlyFs>;
  process: Declared extends { background: true }
    ? ScopedProcess & { background: BackgroundProcesses }
    : ScopedProcess;
  memory: Declared extends { access: 'read' } ? ReadOnlyMemory : ScopedMemory;
  delegation: 'background' extends keyof Declared
    ? Declared extends { background: false }
      ? ForegroundDelegation
      : ScopedDelegation
    : ForegroundDelegation;
}

/** The type of an accessor, given what a tool declares of its capability. */
type AccessorType<
  K extends keyof AccessorNames,
  Declared,
> = K extends keyof NarrowedAccessors<Declared>
  ? NarrowedAccessors<Declared>[K]
  : NonNullable<ToolContext[AccessorNames[K]]>;

/** Chooses by which of `read` and `write` are declared. */
type ByReach<Declared, Both, Reading, Writing> = 'write' extends keyof Declared
  ? 'read' extends keyof Declared
    ? Both
    : Writing
  : Reading;

type AccessorName<K> = K extends keyof AccessorNames ? AccessorNames[K] : never;

/** The accessor of the capability `K`; also `undefined` if the capability is optional. */
type AccessorOf<C, K extends keyof C> = K extends keyof AccessorNames
  ? AccessorType<K, NonNullable<C[K]>> | (undefined extends Required<C>[K] ? undefined : never)
  : never;

/** Merges to a single object type, so that an editor shows its members. */
type Flat<T> = T extends infer U ? { [K in keyof U]: U[K] } : never;

/**
 * The accessors that `C` gives. An accessor is optional if its capability is. `storage` is always
 * optional.
 */
export type AccessorsFor<C extends ToolCapabilities> = Flat<
  {
    -readonly [K in keyof C as AccessorName<K>]: AccessorOf<C, K>;
  } & {
    [K in keyof C as K extends 'fs_reach' ? 'storage' : never]?: ByReach<
      NonNullable<C[K]>,
      Storage,
      ReadOnlyStorage,
      WriteOnlyStorage
    >;
  }
>;

/** A text for each capability that `C` lacks: what to declare, and for which accessors. */
type Remedy<C, K extends keyof AccessorNames> = K extends keyof C
  ? ''
  : `${K} for ${AccessorNames[K]}${K extends 'fs_reach' ? ' and storage' : ''}; `;

declare const undeclared: unique symbol;

/** Has no members. Its argument is for the reader of an error or of an editor's hover. */
export interface Undeclared<_Remedies extends string> {
  readonly [undeclared]?: never;
}

/** One member of a union. The compiler infers it as the last overload of a function. */
type OneOf<U> = (U extends unknown ? (take: (member: U) => void) => void : never) extends (
  take: infer Takes,
) => void
  ? Takes extends (member: infer Member) => void
    ? Member
    : never
  : never;

/**
 * A text that says what to declare for each accessor that `C` does not give. It is a single text,
 * since the compiler shortens a union or a list, but not a text. It contains every capability of
 * the table. The compiler chooses their order, which has no meaning.
 */
export type RemediesFor<C, Left extends keyof AccessorNames = keyof AccessorNames> =
  OneOf<Left> extends infer One extends Left
    ? [One] extends [never]
      ? ''
      : `${RemediesFor<C, Exclude<Left, One>>}${Remedy<C, One>}`
    : never;

/**
 * The context of a tool with the capabilities `C`. It has the accessors that `C` gives, and no
 * others. An accessor is optional only if its capability is, except for `storage`, the turn's
 * storage within the declared reach, which is always optional. `scopedProcess.background` is
 * present for `background: true`. The compiler refuses every argument of a method that `C` does not
 * allow, such as `scopedFs.write` when only `read` is declared.
 */
export type ToolContextFor<C extends ToolCapabilities> = ToolTurn &
  AccessorsFor<C> &
  Undeclared<RemediesFor<C>>;
