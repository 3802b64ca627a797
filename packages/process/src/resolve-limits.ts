import { DEFAULT_PROCESS_LIMITS, PROCESS_LIMITS } from '@ethosagent/policy';
import type { ProcessLimits } from '@ethosagent/types';

/**
 * The limits of one process: what the operator set, or the default, and less where the call asks
 * for less. What is no limit takes nothing away, and a call lifts nothing.
 */
export function resolveLimits(
  policy: ProcessLimits | undefined,
  call: ProcessLimits | undefined,
): ProcessLimits {
  const limits: ProcessLimits = { ...DEFAULT_PROCESS_LIMITS, ...policy };
  for (const name of PROCESS_LIMITS) {
    const asked = limitOf(call, name);
    if (asked !== undefined) limits[name] = Math.min(asked, limits[name] ?? asked);
  }
  return limits;
}

/** Whether someone asked for a limit of processes. */
export function isProcessLimitSet(
  policy: ProcessLimits | undefined,
  call: ProcessLimits | undefined,
): boolean {
  return policy?.processes !== undefined || limitOf(call, 'processes') !== undefined;
}

/** What a call asks for, where it is a number that can be a limit. */
function limitOf(limits: ProcessLimits | undefined, name: keyof ProcessLimits): number | undefined {
  const asked: unknown = limits?.[name];
  return typeof asked === 'number' && asked >= 0 ? asked : undefined;
}
