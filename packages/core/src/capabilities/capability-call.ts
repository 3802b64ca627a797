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

/** The parts of a tool context that decide on its accessors. */
export interface ResolveContext extends MemoryFacts {
  networkPolicy?: NetworkPolicy;
  /** Where processes start unless they name another folder. */
  workingDir?: string;
}

/** The accessors of one call: only those that were declared and have a backend. */
export type ScopedAccessors = Pick<ToolContext, Exclude<ToolAccessorName, 'storage'>>;

/** Where a call finds processes that outlive it, and leaves its own. */
export type BackgroundSession = Pick<
  ScopedBackgroundOptions,
  'find' | 'open' | 'openScope' | 'isCurrent' | 'now'
>;

/** What a call of a registry has, and other calls do not. */
export interface RegistryCall {
  readonly toolCallId: string;
  readonly attachments: readonly TurnAttachment[];
  /** The storage of the turn, and when each file was read from it. */
  readonly storage: Storage | undefined;
  readonly readMtimes: ToolContext['readMtimes'];
  /** Runs sub-agents. */
  readonly delegation: DelegationProvider | undefined;
  /** Runs the calls that this call makes; absent when nobody does. */
  readonly calls: (() => CallOfTool) | undefined;
  background(): BackgroundSession;
  openService(): Promise<ServiceScope>;
}

/** What a service has, and calls do not. */
export interface ServiceCall {
  /** Called for every process that the service starts. */
  readonly onStarted: NonNullable<ScopedProcessOptions['onStarted']>;
}

/** Who calls, and under which policy. */
export interface PolicyCall {
  readonly ctx: ResolveContext;
  readonly policy: PolicyAtOnce;
  /** Present for a service, which shares no connections with calls. */
  readonly service?: ServiceCall | undefined;
  /** How the host narrowed the reach of this call. */
  readonly narrowing?: CallNarrowing | undefined;
}

/** What the capabilities of a call may reach, for the capabilities that depend on one another. */
export interface Grants {
  network?: HostGrant | undefined;
  files?: FileGrant | undefined;
}

/** Accessors while they are put together. */
export interface Binding extends PolicyCall {
  readonly grants: Grants;
  /** The scope of the call or of the service. */
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
