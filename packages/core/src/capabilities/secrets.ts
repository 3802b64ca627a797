import {
  declaredRef,
  isSecretRefPattern,
  parseHostPattern,
  secretRefMatches,
  secretSource,
} from '@ethosagent/policy';
import type { SecretDeclaration, SecretRef, SecretSources } from '@ethosagent/types';
import { meetRefLists } from '../call-narrowing.js';
import type { AccessBasis } from '../call-scope.js';
import { ScopedSecretsImpl, type ScopedSecretsOptions } from '../scoped/scoped-secrets.js';
import type { Binding } from './capability-call.js';
import { type CapabilityProblem, defineCapability } from './capability-module.js';
import { declaredEntry } from './declared-part.js';
import { SecretBindings } from './secret-bindings.js';
import { indexByRef } from './secret-index.js';
import { isStringList, problem, quote } from './shapes.js';

/** Secret refs, through `secretsResolver`. */
export const secrets = defineCapability('secrets', {
  isForServices: true,
  shapeProblem: (declared) => {
    if (!Array.isArray(declared)) return 'secrets is not a list';
    const at = declared.findIndex((secret: unknown) => !isSecretDeclaration(secret));
    return at < 0 ? undefined : `secrets[${at}] is neither a ref nor { ref, hosts: [...] }`;
  },
  malformed: (declared, { network }) =>
    declared.flatMap((secret) => malformedSecret(secret, network !== undefined)),
  compile: (declared, { capabilities, backends }) => {
    const refs = new Set(declared.map(declaredRef));
    const bindings = new SecretBindings(declared, capabilities.network?.allowedHosts);
    const indexOf = ({ covers, asked }: AccessBasis = {}) =>
      declared.findIndex((one) => {
        const ref = declaredRef(one);
        return ref === covers || asked?.some((sent) => secretRefMatches(ref, sent));
      });
    return {
      bind: (binding) => {
        if (backends.secretsBackend === undefined) return;
        const options = new SecretOptions(binding, bindings);
        binding.accessors.secretsResolver = new ScopedSecretsImpl(
          refs,
          backends.secretsBackend,
          options,
        );
      },
      why: ({ basis, target }, { tool, policy }) => ({
        declared: declaredEntry('secrets', [...declared.map(declaredRef)], indexOf(basis)),
        policy: [
          ...tool(),
          ...(Object.hasOwn(policy.secretSources ?? {}, target)
            ? policy.placesOf(`safety.secrets.${target}`)
            : []),
        ],
      }),
      describe: ({ narrowing, policy: { secretSources } }, grants) => {
        if (secretSources === undefined) return { secrets: [] };
        const described = bindings.describe(grants.network?.hosts ?? []);
        const within = narrowing?.secrets;
        const given = within === undefined ? described : narrowedTo(within, described);
        return { secrets: given, ...sourcesOf(given, secretSources) };
      },
    };
  },
});

/** The options of a call's secrets, worked out only if it uses any. */
class SecretOptions implements ScopedSecretsOptions {
  readonly #binding: Binding;
  readonly bindings: SecretBindings;

  constructor(binding: Binding, bindings: SecretBindings) {
    this.#binding = binding;
    this.bindings = bindings;
  }

  get scope() {
    return this.#binding.scope;
  }

  get hosts() {
    return this.#binding.grants.network?.hosts;
  }

  get within() {
    return this.#binding.narrowing?.secrets;
  }

  get isService() {
    return this.#binding.service !== undefined;
  }

  sourceOf(ref: SecretRef): SecretRef | undefined {
    const { secretSources } = this.#binding.policy;
    return secretSources && secretSource(secretSources, ref);
  }
}

function narrowedTo(
  within: readonly string[],
  described: readonly SecretDeclaration[],
): SecretDeclaration[] {
  return described.flatMap((one) =>
    meetRefLists([declaredRef(one)], within).map((ref) =>
      typeof one === 'string' ? ref : { ...one, ref },
    ),
  );
}

/** What a personality says about the given refs. */
function sourcesOf(
  given: readonly SecretDeclaration[],
  sources: SecretSources,
): { secretSources?: SecretSources } {
  const around = indexByRef(given, declaredRef);
  const said = Object.keys(sources)
    .filter((ref) => around(ref).some((one) => secretRefMatches(declaredRef(one), ref)))
    .map((ref) => [ref, secretSource(sources, ref) ?? false] as const)
    .filter(([ref, source]) => ref !== source);
  return said.length === 0 ? {} : { secretSources: Object.fromEntries(said) };
}

function isSecretDeclaration(secret: unknown): boolean {
  if (typeof secret !== 'object' || secret === null) return typeof secret === 'string';
  const { ref, hosts, ...unknown }: { ref?: unknown; hosts?: unknown } = secret;
  return typeof ref === 'string' && isStringList(hosts) && Object.keys(unknown).length === 0;
}

function malformedSecret(declared: SecretDeclaration, hasNetwork: boolean): CapabilityProblem[] {
  const ref = declaredRef(declared);
  if (!isSecretRefPattern(ref)) return [problem('secrets', `${quote(ref)} is not a secret ref`)];
  if (typeof declared === 'string') return [];
  const { hosts } = declared;
  if (!Array.isArray(hosts) || hosts.length === 0) {
    return [problem('secrets', `${ref} names no hosts; list them, or declare the ref alone`)];
  }
  if (!hasNetwork) {
    return [problem('secrets', `${ref} can be sent nowhere: the tool declares no network`)];
  }
  return hosts.flatMap((host) =>
    host === '*' || parseHostPattern(host) === null
      ? [problem('secrets', `${ref}: ${quote(host)} is not a host or *.suffix`)]
      : [],
  );
}
