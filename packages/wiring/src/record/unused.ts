import { declaredRef, hostMatches, isWithin, parseHostPattern } from '@ethosagent/policy';
import type { ToolCapabilities } from '@ethosagent/types';
import type {
  KeptList,
  LeastDeclaration,
  LeastPrivilege,
  LeastPrivilegeOptions,
} from './least-privilege.js';

/**
 * Lists the parts of the declarations and of the personality that a run never used, one line for
 * each.
 */
export function unusedOf({
  options: { personality, tools },
  declarations,
  policy,
  kept,
}: {
  options: LeastPrivilegeOptions;
  declarations: readonly LeastDeclaration[];
  policy: Pick<LeastPrivilege, 'toolset' | 'read' | 'write' | 'allow'>;
  kept: readonly KeptList[];
}): string[] {
  const used = new Map(declarations.map(({ tool, capabilities }) => [tool, capabilities]));
  const ofTools = tools
    .filter(({ offered }) => offered)
    .flatMap(({ name, capabilities }) => {
      const least = used.get(name);
      if (least === undefined) return [`tool ${name}: never called`];
      return unusedParts(capabilities, least).map((part) => `tool ${name}: ${part}`);
    });
  const isKept = (key: KeptList['key']) => kept.some((each) => each.key === key);
  const folders = (['read', 'write'] as const)
    .filter((kind) => !isKept(`fs_reach.${kind}`))
    .flatMap((kind) =>
      (personality.fs_reach?.[kind] ?? [])
        .filter((root) => !policy[kind].some(({ value }) => isWithin(value, root)))
        .map((root) => `fs_reach.${kind}: ${root}`),
    );
  const hosts = isKept('safety.network.allow') ? [] : (personality.safety?.network?.allow ?? []);
  return [
    ...ofTools,
    ...folders,
    ...hosts
      .filter((pattern) => !policy.allow.some(({ value }) => isHostOf(pattern, value)))
      .map((pattern) => `safety.network.allow: ${pattern}`),
  ];
}

function unusedParts(declared: ToolCapabilities, least: ToolCapabilities): string[] {
  const hosts = (declared.network?.allowedHosts ?? []).filter(
    (pattern) => !least.network?.allowedHosts.some((host) => isHostOf(pattern, host)),
  );
  const refs = (least.secrets ?? []).map(declaredRef);
  const secrets = (declared.secrets ?? [])
    .map(declaredRef)
    .filter(
      (ref) =>
        !refs.some(
          (one) => one === ref || (ref.endsWith('/*') && one.startsWith(ref.slice(0, -1))),
        ),
    );
  const binaries = (declared.process?.allowedBinaries ?? []).filter((binary) =>
    binary === '*' ? least.process === undefined : !least.process?.allowedBinaries.includes(binary),
  );
  const kinds = (['read', 'write'] as const).filter(
    (kind) => declared.fs_reach?.[kind] !== undefined && least.fs_reach?.[kind] === undefined,
  );
  const whole = Object.entries(declared).flatMap(([name, value]) =>
    value === undefined || TOLD_IN_PARTS.has(name) || Object.hasOwn(least, name) ? [] : [name],
  );
  return [
    ...hosts.map((host) => `host ${host}`),
    ...secrets.map((ref) => `secret ${ref}`),
    ...binaries.map((binary) => `program ${binary}`),
    ...kinds.map((kind) => `fs_reach.${kind}`),
    ...whole,
    ...(declared.memory?.access === 'read-write' && least.memory?.access === 'read'
      ? ['memory: to write']
      : []),
  ];
}

/** Capabilities whose entries are reported one by one. */
const TOLD_IN_PARTS: ReadonlySet<string> = new Set(['network', 'secrets', 'process', 'fs_reach']);

/** Whether a pattern covers an entry. An entry without a port stands for its default ports. */
function isHostOf(pattern: string, entry: string): boolean {
  const found = parseHostPattern(pattern);
  if (found?.port === undefined) return hostMatches(pattern, entry);
  return pattern === entry || [80, 443].some((port) => hostMatches(pattern, `${entry}:${port}`));
}
