import {
  declaredRef,
  isDeclarablePath,
  isSecretRefPattern,
  isWithin,
  meetHosts,
  parseHostPattern,
} from '@ethosagent/policy';
import type {
  AnyTool,
  CapabilityName,
  CapabilityValidationError,
  PersonalityConfig,
  ToolCapabilities,
} from '@ethosagent/types';

type Problem = { capability: CapabilityName; message: string };

/**
 * Every way in which a tool's declaration is malformed or exceeds the personality. Empty when it
 * fits. Nothing is thrown.
 */
export function validateRegistration(
  tool: Pick<AnyTool, 'name' | 'capabilities'>,
  personality: Pick<PersonalityConfig, 'fs_reach' | 'safety'>,
): CapabilityValidationError[] {
  const declared = tool.capabilities;
  return [
    ...validateDeclaration(declared),
    ...exceedsNetwork(declared, personality.safety?.network?.allow),
    ...exceedsReach('read', declared, personality),
    ...exceedsReach('write', declared, personality),
  ].map((problem) => ({ tool: tool.name, ...problem }));
}

/** Every way in which a declaration is malformed by itself, whatever the personality. */
export function validateDeclaration(declared: ToolCapabilities): Problem[] {
  return [
    ...(declared.network?.allowedHosts ?? []).flatMap((host) =>
      parseHostPattern(host) === null
        ? [problem('network', `${quote(host)} is not a host, *.suffix or *`)]
        : [],
    ),
    ...malformedSecrets(declared),
    ...malformedStorage(declared.storage),
    ...malformedPaths('read', declared.fs_reach?.read),
    ...malformedPaths('write', declared.fs_reach?.write),
    ...(declared.process?.allowedBinaries ?? []).flatMap((binary) =>
      isBinaryName(binary)
        ? []
        : [problem('process', `${quote(binary)} is not a bare name, an absolute path or *`)],
    ),
    ...(declared.attachments?.mediaTypes ?? []).flatMap((type) =>
      /^[\w.+-]+\/(\*|[\w.+-]+)$|^\*\/\*$/.test(type)
        ? []
        : [problem('attachments', `${quote(type)} is not a media type`)],
    ),
    ...malformedAccess('memory', declared.memory, ['read', 'read-write']),
    ...malformedAccess('sessions', declared.sessions, ['read']),
  ];
}

function malformedSecrets({ secrets = [], network }: ToolCapabilities): Problem[] {
  return secrets.flatMap((declaration) => {
    const ref = declaredRef(declaration);
    if (!isSecretRefPattern(ref)) return [problem('secrets', `${quote(ref)} is not a secret ref`)];
    if (typeof declaration === 'string') return [];
    const { hosts } = declaration;
    if (!Array.isArray(hosts) || hosts.length === 0) {
      return [problem('secrets', `${ref} names no hosts; list them, or declare the ref alone`)];
    }
    if (network === undefined) {
      return [problem('secrets', `${ref} can be sent nowhere: the tool declares no network`)];
    }
    return hosts.flatMap((host) =>
      host === '*' || parseHostPattern(host) === null
        ? [problem('secrets', `${ref}: ${quote(host)} is not a host or *.suffix`)]
        : [],
    );
  });
}

function malformedStorage(storage: ToolCapabilities['storage']): Problem[] {
  if (storage === undefined) return [];
  const problems: Problem[] = [];
  if (!['tool-private', 'session', 'personality'].includes(storage.scope)) {
    problems.push(problem('storage', `${quote(storage.scope)} is not a storage scope`));
  }
  if (storage.kind !== 'kv') problems.push(problem('storage', `${quote(storage.kind)} is not kv`));
  const ttl = storage.ttlSecondsDefault;
  if (ttl !== undefined && !(Number.isFinite(ttl) && ttl > 0)) {
    problems.push(problem('storage', `ttlSecondsDefault ${ttl} is not a number above zero`));
  }
  return problems;
}

function malformedAccess(
  capability: 'memory' | 'sessions',
  declared: { access: string } | undefined,
  known: readonly string[],
): Problem[] {
  if (declared === undefined || known.includes(declared.access)) return [];
  return [problem(capability, `access ${quote(declared.access)} is not ${known.join(' or ')}`)];
}

function malformedPaths(
  kind: 'read' | 'write',
  paths: string[] | 'from-personality' | undefined,
): Problem[] {
  if (paths === undefined || paths === 'from-personality') return [];
  return paths.flatMap((path) =>
    isDeclarablePath(path)
      ? []
      : [problem(`fs_reach.${kind}`, `${quote(path)} is not an absolute path without . and ..`)],
  );
}

function exceedsNetwork(declared: ToolCapabilities, allow: string[] | undefined): Problem[] {
  if (declared.network === undefined || allow === undefined) return [];
  return declared.network.allowedHosts.flatMap((host) => {
    if (host === '*' || parseHostPattern(host) === null) return [];
    // Covered means that meeting a rule takes nothing from it.
    const whole = meetHosts(host, host);
    return allow.some((rule) => meetHosts(rule, host) === whole)
      ? []
      : [problem('network', `${host} is not covered by the personality's safety.network.allow`)];
  });
}

function exceedsReach(
  kind: 'read' | 'write',
  declared: ToolCapabilities,
  personality: Pick<PersonalityConfig, 'fs_reach'>,
): Problem[] {
  const paths = declared.fs_reach?.[kind];
  if (paths === undefined || paths === 'from-personality') return [];
  const reach = personality.fs_reach?.[kind] ?? [];
  return paths.flatMap((path) =>
    !isDeclarablePath(path) || reach.some((root) => isWithin(path, root))
      ? []
      : [
          problem(
            `fs_reach.${kind}`,
            `${path} is not covered by the personality's fs_reach.${kind}`,
          ),
        ],
  );
}

function isBinaryName(binary: string): boolean {
  if (typeof binary !== 'string' || binary === '' || binary.includes('\0')) return false;
  return binary === '*' || isDeclarablePath(binary) || !/[/\\]|^\.{1,2}$/.test(binary);
}

function problem(capability: CapabilityName, message: string): Problem {
  return { capability, message };
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
