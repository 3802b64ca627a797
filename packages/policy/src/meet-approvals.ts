import type { ApprovalPolicy } from '@ethosagent/types';

/** The grants that both personalities allow. They hold for sub-agents only if both allow that. */
export function meetApprovals(
  a: ApprovalPolicy | undefined,
  b: ApprovalPolicy | undefined,
): ApprovalPolicy | undefined {
  if (a === undefined && b === undefined) return undefined;
  const grants =
    a?.grants === undefined || b?.grants === undefined
      ? (a?.grants ?? b?.grants)
      : a.grants.filter((scope) => b.grants?.includes(scope));
  const inherits = a?.sub_agents === 'inherit' && b?.sub_agents === 'inherit';
  return {
    ...(grants !== undefined && { grants: [...grants] }),
    sub_agents: inherits ? 'inherit' : 'none',
  };
}
