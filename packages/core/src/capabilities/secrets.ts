import { declaredRef, isSecretRefPattern, parseHostPattern } from '@ethosagent/policy';
import type { SecretDeclaration } from '@ethosagent/types';
import { ScopedSecretsImpl } from '../scoped/scoped-secrets.js';
import { type CapabilityProblem, defineCapability } from './capability-module.js';
import { SecretBindings } from './secret-bindings.js';
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
    return {
      bind: ({ grants, scope, accessors }) => {
        if (backends.secretsBackend === undefined) return;
        const hosts = grants.network?.hosts;
        const options = { scope, bindings, hosts };
        accessors.secretsResolver = new ScopedSecretsImpl(refs, backends.secretsBackend, options);
      },
      describe: (_call, grants) => ({ secrets: bindings.describe(grants.network?.hosts ?? []) }),
    };
  },
});

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
