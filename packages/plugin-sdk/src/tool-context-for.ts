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

/** What each capability puts into the context of a tool that declares it. */
interface AccessorsByCapability<C> {
  network: { scopedFetch: ScopedFetch };
  secrets: { secretsResolver: ScopedSecretsResolver };
  storage: { kvStore: KeyValueStore };
  fs_reach: { scopedFs: ScopedFs; storage?: Storage };
  process: { scopedProcess: ProcessOf<C> };
  attachments: { attachments: ScopedAttachments };
  memory: { memory: ScopedMemory };
  sessions: { sessions: ScopedSessions };
  service: { services: ScopedServices };
  delegation: { delegation: ScopedDelegation };
}

/** With `background` where it is sure to be declared. */
type ProcessOf<C> = C extends { process?: { background: true } | undefined }
  ? ScopedProcess & { background: BackgroundProcesses }
  : ScopedProcess;

type Nothing = Record<never, never>;

/** Present for a declared capability, optional for one that may be declared, else nothing. */
type AccessorsOf<C, Name extends keyof AccessorsByCapability<C>> = Name extends keyof C
  ? undefined extends C[Name]
    ? Partial<AccessorsByCapability<C>[Name]>
    : AccessorsByCapability<C>[Name]
  : Nothing;

/**
 * The context of a tool with the capabilities `C`: the accessors that they give, as present, and
 * no others. `storage`, the turn's storage held to the declared reach, stays optional;
 * `scopedProcess.background` is present for `background: true`.
 */
export type ToolContextFor<C extends ToolCapabilities> = Omit<ToolContext, ToolAccessorName> &
  AccessorsOf<C, 'network'> &
  AccessorsOf<C, 'secrets'> &
  AccessorsOf<C, 'storage'> &
  AccessorsOf<C, 'fs_reach'> &
  AccessorsOf<C, 'process'> &
  AccessorsOf<C, 'attachments'> &
  AccessorsOf<C, 'memory'> &
  AccessorsOf<C, 'sessions'> &
  AccessorsOf<C, 'service'> &
  AccessorsOf<C, 'delegation'>;
