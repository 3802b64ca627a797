import type {
  DelegationProvider,
  NetworkPolicy,
  ServiceScope,
  Storage,
  ToolAccessorName,
  ToolContext,
  TurnAttachment,
} from '@ethosagent/types';
import type { AccessScope } from '../access.js';
import type { CallNarrowing } from '../call-narrowing.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import type { MemoryFacts } from '../scoped/memory-scopes.js';
import type { ScopedBackgroundOptions } from '../scoped/scoped-background.js';
import type { ScopedProcessImpl, ScopedProcessOptions } from '../scoped/scoped-process.js';
import type { CallOfTool } from '../turn-host.js';
import type { FileGrant } from './fs-grant.js';
import type { HostGrant } from './network-grant.js';

/** What of a tool context decides on its accessors. */
export interface ResolveContext extends MemoryFacts {
  networkPolicy?: NetworkPolicy;
  /** Where processes work that are told no other directory. */
  workingDir?: string;
}

/** The accessors of one call: those that were declared and have a backend, and no others. */
export type ScopedAccessors = Pick<ToolContext, Exclude<ToolAccessorName, 'storage'>>;

/** Where a call finds, and leaves, processes that outlive it. */
export type BackgroundSession = Pick<
  ScopedBackgroundOptions,
  'find' | 'open' | 'openScope' | 'now'
>;

/** What only a call of a registry has. */
export interface RegistryCall {
  readonly attachments: readonly TurnAttachment[];
  /** The turn's storage and what was read from it when. */
  readonly storage: Storage | undefined;
  readonly readMtimes: ToolContext['readMtimes'];
  /** Who runs sub-agents. */
  readonly delegation: DelegationProvider | undefined;
  /** Who runs the calls of the call, for this very call; absent where nobody does. */
  readonly calls: (() => CallOfTool) | undefined;
  background(): BackgroundSession;
  openService(): Promise<ServiceScope>;
}

/** What only a service has. */
export interface ServiceCall {
  /** Told of every process. */
  readonly onStarted: NonNullable<ScopedProcessOptions['onStarted']>;
}

/** Who calls, and under which policy. */
export interface PolicyCall {
  readonly ctx: ResolveContext;
  readonly policy: PolicyAtOnce;
  /** Of a service: it shares no connections with calls. */
  readonly service?: ServiceCall | undefined;
  /** What the host leaves of the reach of this call. */
  readonly narrowing?: CallNarrowing | undefined;
}

/** What the capabilities of a call may reach, as far as one of them builds on another. */
export interface Grants {
  network?: HostGrant | undefined;
  files?: FileGrant | undefined;
}

/** Accessors that are being put together. */
export interface Binding extends PolicyCall {
  readonly grants: Grants;
  /** The life of the call, or of the service. */
  readonly scope: AccessScope | undefined;
  readonly registry: RegistryCall | undefined;
  readonly accessors: BoundAccessors;
}

/** The accessors, and what else a declaration gives. */
export interface BoundAccessors
  extends ScopedAccessors,
    Pick<ToolContext, 'storage' | 'readMtimes'> {
  scopedProcess?: ScopedProcessImpl;
}
