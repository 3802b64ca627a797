import type {
  AuditWhy,
  CapabilityName,
  PersonalityConfig,
  ToolCapabilities,
} from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import type { Access } from '../call-scope.js';
import type { Binding, Grants, PolicyCall } from './capability-call.js';
import type { ResolvedGrant } from './resolved-grant.js';

/** The key of a capability in a declaration. */
export type CapabilityKey = keyof ToolCapabilities;

/** One way in which a declaration is malformed or exceeds the policy. */
export interface CapabilityProblem {
  capability: CapabilityName;
  message: string;
}

/** The part of a personality that a declaration must fit. */
export type RegistrationPolicy = Pick<PersonalityConfig, 'fs_reach' | 'safety'>;

/** A tool whose declaration is being compiled. */
export interface CompiledTool {
  /** Part of the ids of its namespaces. */
  readonly name: string;
  readonly capabilities: ToolCapabilities;
  readonly backends: CapabilityBackends;
}

/** A call whose accesses are to be explained. */
export interface ExplainedCall extends PolicyCall {
  readonly grants: Grants;
  /**
   * The parts of the policy that allow the tool; the whole policy if it has no list for the tool.
   */
  readonly tool: () => string[];
}

/** The declaration of one capability of one tool, compiled. */
export interface CapabilityPart {
  /** Works out what other parts depend on. Runs before every `bind` and `describe`. */
  grant?(call: PolicyCall, grants: Grants): void;
  /** Adds the accessor, if there is a backend for it. */
  bind(binding: Binding): void;
  /** What the call may reach, as data. */
  describe(call: PolicyCall, grants: Grants): ResolvedGrant;
  /** What decided an access of the call. Only called when somebody receives the explanation. */
  why(access: Access, call: ExplainedCall): AuditWhy;
  /**
   * Why the capability can't be given as the policy requires. Returns a promise only if it has to
   * look something up.
   */
  missing?(call: PolicyCall): Promise<string | undefined> | undefined;
}

/** Everything that the engine needs to know about one capability. */
export interface CapabilitySpec<TDeclared> {
  /** Services may declare the capability too. */
  readonly isForServices?: boolean;
  /** `false` if its reach can't be narrowed for a single call. */
  readonly isNarrowable?: boolean;
  /**
   * Why the declaration has the wrong shape to be checked further; the text starts with the key.
   */
  shapeProblem?(declared: unknown): string | undefined;
  /** Every way in which the declaration itself is malformed. */
  malformed?(declared: TDeclared, capabilities: ToolCapabilities): CapabilityProblem[];
  /** Every way in which the declaration exceeds a personality. */
  exceeding?(declared: TDeclared, personality: RegistrationPolicy): CapabilityProblem[];
  compile(declared: TDeclared, tool: CompiledTool): CapabilityPart;
}

/** A capability as the table holds it: it finds its own key in a declaration. */
export interface CapabilityModule {
  readonly key: CapabilityKey;
  readonly isForServices: boolean;
  readonly isNarrowable: boolean;
  shapeProblem(capabilities: ToolCapabilities): string | undefined;
  malformed(capabilities: ToolCapabilities): CapabilityProblem[];
  exceeding(capabilities: ToolCapabilities, personality: RegistrationPolicy): CapabilityProblem[];
  /** `undefined` for a tool that doesn't declare it. */
  compile(tool: CompiledTool): CapabilityPart | undefined;
}

/** Builds the module of a capability from its spec. */
export function defineCapability<K extends CapabilityKey>(
  key: K,
  spec: CapabilitySpec<NonNullable<ToolCapabilities[K]>>,
): CapabilityModule {
  const found = <T>(
    capabilities: ToolCapabilities,
    look: (declared: NonNullable<ToolCapabilities[K]>) => T,
  ): T | undefined => {
    const declared = capabilities[key];
    return declared === undefined || declared === null ? undefined : look(declared);
  };
  return {
    key,
    isForServices: spec.isForServices === true,
    isNarrowable: spec.isNarrowable !== false,
    shapeProblem: (capabilities) =>
      capabilities[key] === undefined ? undefined : spec.shapeProblem?.(capabilities[key]),
    malformed: (capabilities) =>
      found(capabilities, (declared) => spec.malformed?.(declared, capabilities)) ?? [],
    exceeding: (capabilities, personality) =>
      found(capabilities, (declared) => spec.exceeding?.(declared, personality)) ?? [],
    compile: (tool) => found(tool.capabilities, (declared) => spec.compile(declared, tool)),
  };
}
