import type { ArgumentPolicy, ProcessLimits, ProcessPolicy } from '@ethosagent/types';
import { DEFAULT_PROCESS_LIMITS, PROCESS_LIMITS } from './process-limits.js';

/**
 * What both policies allow: the stricter sandbox, the smaller limits, and only arguments that both
 * allow.
 */
export function meetProcessPolicies(
  a: ProcessPolicy | undefined,
  b: ProcessPolicy | undefined,
): ProcessPolicy | undefined {
  if (a === undefined && b === undefined) return undefined;
  const sandbox = SANDBOXES[Math.max(rankOf(a?.sandbox), rankOf(b?.sandbox))];
  const limits = meetLimits(a?.limits, b?.limits);
  const rules = meetArguments(a?.arguments, b?.arguments);
  return {
    ...(sandbox !== undefined && { sandbox }),
    ...(limits !== undefined && { limits }),
    ...(rules !== undefined && { arguments: rules }),
  };
}

const SANDBOXES = [undefined, 'preferred', 'required'] as const;

function rankOf(sandbox: ProcessPolicy['sandbox']): number {
  if (sandbox === undefined || sandbox === false) return 0;
  return sandbox === 'preferred' ? 1 : 2;
}

function meetLimits(
  a: ProcessLimits | undefined,
  b: ProcessLimits | undefined,
): ProcessLimits | undefined {
  if (a === undefined && b === undefined) return undefined;
  const limits: ProcessLimits = {};
  for (const name of PROCESS_LIMITS) {
    const mine = a?.[name];
    const other = b?.[name];
    if (mine === undefined && other === undefined) continue;
    // A missing limit means no limit, or the default of a sandbox. The other limit may be above
    // that default.
    const byDefault: ProcessLimits = DEFAULT_PROCESS_LIMITS;
    const none = byDefault[name] ?? Number.POSITIVE_INFINITY;
    limits[name] = Math.min(mine ?? none, other ?? none);
  }
  return limits;
}

type Rules = Readonly<Record<string, ArgumentPolicy>>;

function meetArguments(a: Rules | undefined, b: Rules | undefined) {
  if (a === undefined && b === undefined) return undefined;
  const met = new Map(Object.entries(a ?? {}));
  for (const [name, policy] of Object.entries(b ?? {})) {
    const mine = met.get(name);
    met.set(name, mine === undefined ? policy : bothHold(mine, policy));
  }
  return Object.fromEntries(met);
}

function bothHold(a: ArgumentPolicy, b: ArgumentPolicy): ArgumentPolicy {
  const deny = [...new Set([...(a.deny ?? []), ...(b.deny ?? [])])];
  const lists = new Map(
    [a, b].flatMap(({ allow, allow_each = [] }) =>
      [...(allow === undefined ? [] : [allow]), ...allow_each].map(
        (list) => [JSON.stringify(list), list] as const,
      ),
    ),
  );
  const [allow, ...others] = lists.values();
  return {
    ...(allow !== undefined && { allow }),
    ...(deny.length > 0 && { deny }),
    ...(others.length > 0 && { allow_each: others }),
  };
}
