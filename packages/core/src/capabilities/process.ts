import { isDeclarablePath } from '@ethosagent/policy';
import { missingSandbox } from '@ethosagent/process';
import type { ProcessPolicy } from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import { binaryNameKind } from '../binary-name.js';
import { meetBinaries } from '../call-narrowing.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import { ScopedBackgroundImpl } from '../scoped/scoped-background.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from '../scoped/scoped-process.js';
import type { Binding, PolicyCall } from './capability-call.js';
import { defineCapability } from './capability-module.js';
import { declaredEntry, declaredPart } from './declared-part.js';
import { listProblem, problem, quote } from './shapes.js';

/** Binaries, through `scopedProcess`. */
export const processes = defineCapability('process', {
  isForServices: true,
  shapeProblem: (declared) => {
    const { allowedBinaries, sandbox, background }: Record<string, unknown> = Object(declared);
    // A misspelt `sandbox` must not mean that there is no sandbox.
    if (sandbox !== undefined && sandbox !== 'required') {
      return "process.sandbox is not 'required'; leave it out to let the personality decide";
    }
    if (background !== undefined && typeof background !== 'boolean') {
      return 'process.background is not true or false';
    }
    return listProblem('process.allowedBinaries', allowedBinaries);
  },
  malformed: ({ allowedBinaries = [] }) =>
    allowedBinaries.flatMap((binary) =>
      isDeclarableBinary(binary)
        ? []
        : [problem('process', `${quote(binary)} is not a bare name, an absolute path or *`)],
    ),
  compile: ({ allowedBinaries, sandbox, background }, { backends }) => {
    const declared = new Set(allowedBinaries);
    const leftOf = ({ narrowing }: Pick<PolicyCall, 'narrowing'>): ReadonlySet<string> =>
      narrowing?.binaries === undefined
        ? declared
        : new Set(meetBinaries(allowedBinaries, narrowing.binaries));
    const policyOf = (policy: PolicyAtOnce) => processPolicy(policy, sandbox);
    // In a call that was narrowed from `*`, the binaries come from the entry `*`.
    const placeOf = (binary: string) =>
      allowedBinaries.indexOf(declared.has(binary) ? binary : '*');
    const optionsOf = (binding: Binding) => new ProcessOptions(binding, backends, sandbox);
    return {
      bind: (binding) => {
        const allowed = leftOf(binding);
        const { scope, registry, accessors } = binding;
        const processes = new ScopedProcessImpl(allowed, optionsOf(binding));
        accessors.scopedProcess = processes;
        if (background !== true || registry === undefined || scope === undefined) return;
        processes.background = new ScopedBackgroundImpl({
          ...registry.background(),
          allowed,
          personalityId: binding.ctx.personalityId,
          narrowing: binding.narrowing,
          launcher: (own) => new ScopedProcessImpl(allowed, optionsOf({ ...binding, scope: own })),
          scope,
        });
      },
      why: ({ basis }, { policy, tool }) => {
        const { covers } = basis ?? {};
        if (covers === undefined) {
          return {
            declared: declaredPart('process.background', background === true),
            policy: tool(),
          };
        }
        const isBound = Object.hasOwn(policy.process?.arguments ?? {}, covers);
        return {
          declared: declaredEntry('process.allowedBinaries', allowedBinaries, placeOf(covers)),
          policy: [
            ...tool(),
            ...(isBound ? policy.placesOf(`safety.process.arguments.${covers}`) : []),
          ],
        };
      },
      describe: ({ policy, narrowing }) => {
        const { sandbox: wanted, limits, arguments: rules } = policyOf(policy) ?? {};
        return {
          process: {
            allowedBinaries: [...(narrowing ? leftOf({ narrowing }) : allowedBinaries)],
            ...(wanted && { sandbox: wanted === 'preferred' ? wanted : ('required' as const) }),
            ...(wanted && limits && { limits: { ...limits } }),
            ...(rules !== undefined && { arguments: structuredClone(rules) }),
            ...(background !== undefined && { background }),
          },
        };
      },
      missing: ({ policy }) => {
        const wanted = policyOf(policy);
        if (!wanted?.sandbox || wanted.sandbox === 'preferred') return undefined;
        return missingSandbox(wanted, backends.processEnv, backends.sandbox);
      },
    };
  },
});

/** The process policy of the personality, with the sandbox that the tool requires for itself. */
function processPolicy(
  { process: own }: PolicyAtOnce,
  sandbox: 'required' | undefined,
): ProcessPolicy | undefined {
  return sandbox === 'required' ? { ...own, sandbox: 'required' } : own;
}

/** The options of a call's processes, worked out only if it runs any. */
class ProcessOptions implements ScopedProcessOptions {
  readonly #binding: Binding;
  readonly #backends: CapabilityBackends;
  readonly #sandbox: 'required' | undefined;

  constructor(binding: Binding, backends: CapabilityBackends, sandbox: 'required' | undefined) {
    this.#binding = binding;
    this.#backends = backends;
    this.#sandbox = sandbox;
    // Reads the policy now, so that it holds for the whole call.
    void binding.policy.process;
  }

  get scope() {
    return this.#binding.scope;
  }

  get baseEnv() {
    return this.#backends.processEnv;
  }

  get reach() {
    return this.#binding.grants.files?.directories;
  }

  get workingDir() {
    return this.#binding.ctx.workingDir;
  }

  get policy() {
    return processPolicy(this.#binding.policy, this.#sandbox);
  }

  get sandbox() {
    return this.#backends.sandbox;
  }

  get network() {
    const { network } = this.#binding.grants;
    return network?.hosts.size ? network.guard(this.#backends) : undefined;
  }

  get onStarted() {
    return this.#binding.service?.onStarted;
  }
}

function isDeclarableBinary(binary: string): boolean {
  const kind = binaryNameKind(binary);
  return kind === 'bare' || (kind === 'absolute' && isDeclarablePath(binary));
}
