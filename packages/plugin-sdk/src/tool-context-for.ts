import type {
  BackgroundProcesses,
  KeyValueStore,
  ScopedAttachments,
  ScopedDelegation,
  ScopedFetch,
  ScopedFs,
  ScopedMemory,
  ScopedProcess,
  ScopedSecretsResolver,
  ScopedServices,
  ScopedSessions,
  Storage,
  ToolAccessorName,
  ToolCapabilities,
  ToolContext,
} from '@ethosagent/types';

/** What every tool sees of the turn, whatever it declares. */
interface ToolTurn extends Omit<ToolContext, ToolAccessorName> {}

/** The accessor of each capability. `fs_reach` gives `storage` too. */
interface AccessorNames {
  network: 'scopedFetch';
  secrets: 'secretsResolver';
  storage: 'kvStore';
  fs_reach: 'scopedFs';
  process: 'scopedProcess';
  attachments: 'attachments';
  memory: 'memory';
  sessions: 'sessions';
  service: 'services';
  delegation: 'delegation';
}

/** The type of each accessor, for what a tool declares of the capability. */
interface AccessorTypes<Declared> {
  network: ScopedFetch;
  secrets: ScopedSecretsResolver;
  storage: KeyValueStore;
  fs_reach: ScopedFs;
  process: Declared extends { background: true }
    ? ScopedProcess & { background: BackgroundProcesses }
    : ScopedProcess;
  attachments: ScopedAttachments;
  memory: ScopedMemory;
  sessions: ScopedSessions;
  service: ScopedServices;
  delegation: ScopedDelegation;
}

type AccessorName<K> = K extends keyof AccessorNames ? AccessorNames[K] : never;

/** The accessor of the capability `K`; also `undefined` where it may be declared as that. */
type AccessorOf<C, K extends keyof C> = K extends keyof AccessorNames
  ? AccessorTypes<NonNullable<C[K]>>[K] | (undefined extends Required<C>[K] ? undefined : never)
  : never;

/** One object type, so that an editor shows its members. */
type Flat<T> = T extends infer U ? { [K in keyof U]: U[K] } : never;

/**
 * The accessors that `C` gives. Each keeps the optionality of its capability; `storage` is always
 * optional.
 */
type AccessorsFor<C extends ToolCapabilities> = Flat<
  {
    -readonly [K in keyof C as AccessorName<K>]: AccessorOf<C, K>;
  } & {
    [K in keyof C as K extends 'fs_reach' ? 'storage' : never]?: Storage;
  }
>;

/**
 * The context of a tool with the capabilities `C`: the accessors that they give, as present, and
 * no others. `storage`, the turn's storage held to the declared reach, stays optional;
 * `scopedProcess.background` is present for `background: true`.
 */
export type ToolContextFor<C extends ToolCapabilities> = ToolTurn & AccessorsFor<C>;
