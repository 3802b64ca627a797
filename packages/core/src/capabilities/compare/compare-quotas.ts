import type { QuotaLimits } from '@ethosagent/types';
import type { ResolvedGrant } from '../resolved-grant.js';
import type { CompareCapability } from './grant-change.js';

const QUOTAS = {
  requests: true,
  bytes_in: true,
  bytes_out: true,
  process_seconds: true,
  files_written: true,
  store_bytes: true,
} as const satisfies Record<keyof QuotaLimits, true>;

/** What `after` lets a tool use up and `before` does not. */
export const compareQuotas: CompareCapability = (before, after) => {
  if (!reachesAnything(after)) return [];
  return (['per_call', 'per_session'] as const).flatMap((level) =>
    Object.keys(QUOTAS).flatMap((name) => {
      const old = capOf(before.quotas?.[level], name);
      const now = capOf(after.quotas?.[level], name);
      if (now <= old || old === Number.POSITIVE_INFINITY) return [];
      const most = Number.isFinite(now) ? `${now}` : 'any number';
      return [
        {
          what: `${most} of ${name} ${level === 'per_call' ? 'in a call' : 'in a session'}, ${old} before`,
          policy: `safety.quotas.${level}.${name}`,
        },
      ];
    }),
  );
};

/** A tool that reaches nothing uses nothing up, and has no caps. */
function reachesAnything({ quotas: _, ...grant }: ResolvedGrant): boolean {
  return Object.values(grant).some((granted) => granted !== undefined);
}

function capOf(limits: QuotaLimits | undefined, name: string): number {
  const found = Object.entries(limits ?? {}).find(([key]) => key === name)?.[1];
  return found ?? Number.POSITIVE_INFINITY;
}
